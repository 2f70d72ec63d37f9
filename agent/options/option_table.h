// The table of the agent's options: name, form of the value, parser and help of each.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "agent/options/options.h"
#include "common/nearest.h"

namespace jtrace {

struct OptionRow {
  using Parser = absl::Status (*)(absl::string_view value, Options& options);

  absl::string_view name;
  absl::string_view value;  // the form of the value; empty: takes none
  Parser parse;
  absl::string_view help;
};

// In the order of the help.
absl::Span<const OptionRow> OptionTable();

// The parser of config=FILE, which applies the table to each line of the file (options.cc).
absl::Status ParseConfig(absl::string_view value, Options& options);

// The values of options: sizes, times, files, lists, words.

// "64m", "100MB": a number of bytes followed by k, m or g, with or without B. At most 2^40.
absl::Status ParseBytes(absl::string_view value, uint64_t& bytes);
// In the largest of these units that gives a whole number: "64MB", "1000"; cannot be mistaken for a
// time.
std::string FormatBytes(uint64_t bytes);

// "30", "30s", "1h"; a bare number is seconds, as in other tools. False if it is not a time above
// 0.
bool ParseSeconds(absl::string_view value, absl::Duration& time);

// The whole file; an error says why not.
absl::StatusOr<std::string> ReadTextFile(absl::string_view path);

// Splits at ','; leaves out empty options. In the value of hook=, a ',' within the brackets of a
// function's name, f(int, long), does not split, unless an option that `is_option` knows and a '='
// follow it. An unclosed bracket has no effect.
std::vector<absl::string_view> SplitOptions(
    absl::string_view text, absl::FunctionRef<bool(absl::string_view name)> is_option);

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

inline constexpr std::array kModes = {Word<Mode>{"merged", Mode::kMerged},
                                      Word<Mode>{"events", Mode::kEvents},
                                      Word<Mode>{"samples", Mode::kSamples}};
inline constexpr std::array kRecords = {Word<RecordKind>{"tree", RecordKind::kTree},
                                        Word<RecordKind>{"flat", RecordKind::kFlat},
                                        Word<RecordKind>{"log", RecordKind::kLog}};
inline constexpr std::array kActions = {Word<Action>{"start", Action::kStart},
                                        Word<Action>{"stop", Action::kStop},
                                        Word<Action>{"serve", Action::kServe}};
inline constexpr std::array kClocks = {
    Word<Clock>{"none", Clock::kNone}, Word<Clock>{"coarse", Clock::kCoarse},
    Word<Clock>{"tsc", Clock::kTsc}, Word<Clock>{"cpu", Clock::kCpu},
    Word<Clock>{"manual", Clock::kManual}};
inline constexpr std::array kStacks = {
    Word<samples::StackMode>{"full", samples::StackMode::kFull},
    Word<samples::StackMode>{"app", samples::StackMode::kApp},
    Word<samples::StackMode>{"frame", samples::StackMode::kFrame},
    Word<samples::StackMode>{"appframe", samples::StackMode::kAppFrame},
    Word<samples::StackMode>{"pc", samples::StackMode::kPc}};
inline constexpr std::array kBlocks = {Word<Blocks>{"on", Blocks::kByMethod},
                                       Word<Blocks>{"paths", Blocks::kByPath},
                                       Word<Blocks>{"off", Blocks::kOff}};
inline constexpr std::array kOverflows = {Word<bool>{"gap", false}, Word<bool>{"wait", true}};
inline constexpr std::array kCompilers = {Word<bool>{"first", true}, Word<bool>{"asis", false}};
inline constexpr std::array kProbes = {Word<bool>{"atstart", false}, Word<bool>{"resting", true}};
inline constexpr std::array kSwitch = {Word<bool>{"on", true}, Word<bool>{"off", false}};

// boundary=
enum class BoundaryWord { kOff, kOn, kCosts };
inline constexpr std::array kBoundaries = {Word<BoundaryWord>{"on", BoundaryWord::kOn},
                                           Word<BoundaryWord>{"costs", BoundaryWord::kCosts},
                                           Word<BoundaryWord>{"off", BoundaryWord::kOff}};

// The word for a value.
template <typename Enum, size_t N>
absl::string_view WordFor(Enum value, const std::array<Word<Enum>, N>& words) {
  for (const auto& word : words) {
    if (word.value == value) return word.word;
  }
  return "?";
}

}  // namespace jtrace
