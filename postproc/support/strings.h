// String helpers over std::string_view. (Debian's Abseil is built with a different string_view, to
// which std::string_view does not convert.)
#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"

namespace jtrace::postproc {

// One argument of StrCat: text or an integer.
class Piece {
 public:
  Piece(std::string_view text) : text_(text) {}    // NOLINT: implicit by design
  Piece(const std::string& text) : text_(text) {}  // NOLINT
  Piece(const char* text) : text_(text) {}         // NOLINT
  template <std::integral T>
  Piece(T number) {  // NOLINT
    const auto result = std::to_chars(digits_, digits_ + sizeof digits_, number);
    text_ = std::string_view(digits_, static_cast<size_t>(result.ptr - digits_));
  }
  Piece(const Piece&) = delete;
  Piece& operator=(const Piece&) = delete;

  std::string_view text() const { return text_; }

 private:
  char digits_[24];
  std::string_view text_;
};

template <typename... Args>
void StrAppend(std::string* out, const Args&... args) {
  (out->append(Piece(args).text()), ...);
}

template <typename... Args>
std::string StrCat(const Args&... args) {
  std::string out;
  StrAppend(&out, args...);
  return out;
}

std::vector<std::string_view> Split(std::string_view text, char separator);
std::string Join(absl::Span<const std::string_view> parts, std::string_view separator);
bool IsOneOf(std::string_view word, absl::Span<const std::string_view> words);
// True if anything was replaced.
bool ReplaceAll(std::string& text, std::string_view from, std::string_view to);
bool ConsumePrefix(std::string_view& text, std::string_view prefix);
bool ConsumeSuffix(std::string_view& text, std::string_view suffix);
// The whole text as a decimal number, without spaces or '+'.
bool ParseInteger(std::string_view text, int64_t& number);
bool ParseDouble(std::string_view text, double& number);

// Equal for a std::string and a std::string_view of the same text.
struct StringHash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};
// Keys are found by std::string_view.
template <typename Value>
using StringMap = absl::flat_hash_map<std::string, Value, StringHash, std::equal_to<>>;
template <typename Value>
using ViewMap = absl::flat_hash_map<std::string_view, Value, StringHash, std::equal_to<>>;

}  // namespace jtrace::postproc
