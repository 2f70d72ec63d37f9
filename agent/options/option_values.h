// Values of options: words, sizes, times, numbers, lists and files. Each parser reads what its
// formatter writes. Errors: InvalidArgument, in words that follow "option 'NAME': ". Pure, except
// ReadTextFile.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "common/nearest.h"

namespace jtrace {

// One of a fixed list of words.
template <typename Enum>
struct Word {
  absl::string_view word;
  Enum value;
};

template <typename Enum, size_t N>
absl::Status ParseWord(absl::string_view value, const std::array<Word<Enum>, N>& words,
                       Enum& target) {
  for (const auto& word : words) {
    if (word.word == value) {
      target = word.value;
      return absl::OkStatus();
    }
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "'", value, "' is not one of ",
      absl::StrJoin(
          words, "|",
          [](std::string* out, const Word<Enum>& word) { absl::StrAppend(out, word.word); }),
      "; did you mean ", Nearest(value, words, [](const auto& w) { return w.word; }), "?"));
}

// Returns the word for a value.
template <typename Enum, size_t N>
absl::string_view WordFor(Enum value, const std::array<Word<Enum>, N>& words) {
  for (const auto& word : words) {
    if (word.value == value) return word.word;
  }
  return "?";
}

// "64m", "100MB": a number, perhaps with k, m or g (powers of 1024) and B. From 1 to 2^40 bytes.
absl::Status ParseBytes(absl::string_view value, uint64_t& bytes);
// In the largest unit that gives a whole number: "64MB", "1000B". Always ends in B, so it cannot be
// mistaken for a time.
std::string FormatBytes(uint64_t bytes);

// "30", "30s", "1h"; a bare number is seconds, as in other tools. False if it is not a time above
// 0.
bool ParseSeconds(absl::string_view value, absl::Duration& time);

// Formats a number so that it reads back to the same one.
std::string FormatNumber(double number);

// Appends the items between semicolons, without space around them; `if_none`: the error if the list
// is then empty.
absl::Status AppendItems(absl::string_view value, absl::string_view if_none,
                         std::vector<std::string>& items);

// The whole file, up to 1 MB. Reads only regular files, so it never waits.
absl::StatusOr<std::string> ReadTextFile(absl::string_view path);

}  // namespace jtrace
