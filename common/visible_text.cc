#include "common/visible_text.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

namespace jtrace {
namespace {

constexpr std::array<char32_t, 5> kSmallest = {0, 0, 0x80, 0x800, 0x10000};
constexpr char32_t kLargest = 0x10FFFF;

unsigned char ByteAt(std::string_view text, size_t i) {
  return static_cast<unsigned char>(text[i]);
}

// The length of a character that begins with this byte; 0: no character does.
size_t LengthBy(unsigned char first) {
  if (first < 0x80) return 1;
  if (first < 0xC2 || first > 0xF4) return 0;
  return first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
}

// Continuation bytes after the first, at most `length` - 1.
size_t ContinuationBytes(std::string_view text, size_t length) {
  size_t count = 0;
  while (count + 1 < std::min(length, text.size()) && (ByteAt(text, count + 1) & 0xC0) == 0x80) {
    ++count;
  }
  return count;
}

// Of the beginning: ASCII, and the lines of trees (U+2500 to U+25FF). Most text consists of these.
size_t PlainBytes(std::string_view text) {
  size_t plain = 0;
  while (plain < text.size()) {
    if (text[plain] >= ' ' && text[plain] <= '~') {
      ++plain;
    } else if (plain + 2 < text.size() && ByteAt(text, plain) == 0xE2 &&
               ByteAt(text, plain + 1) >= 0x94 && ByteAt(text, plain + 1) <= 0x97 &&
               (ByteAt(text, plain + 2) & 0xC0) == 0x80) {
      plain += 3;
    } else {
      break;
    }
  }
  return plain;
}

std::string Shown(std::string_view text, bool keeps_lines) {
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    const size_t plain = PlainBytes(text);
    shown.append(text.substr(0, plain));
    text.remove_prefix(plain);
    if (text.empty()) break;
    const Character c = FirstCharacter(text);
    const bool is_line_end = keeps_lines && c.code == '\n';
    if (c.is_valid && (is_line_end || (!IsObeyed(c.code) && !IsSurrogate(c.code)))) {
      shown.append(text.substr(0, c.bytes));
    } else {
      AppendEscape(shown, c.code);
    }
    text.remove_prefix(c.bytes);
  }
  return shown;
}

}  // namespace

Character FirstCharacter(std::string_view text) {
  const unsigned char first = ByteAt(text, 0);
  const size_t length = LengthBy(first);
  if (length == 1) return {first, 1, true};
  const Character none = {first, 1, false};
  if (length == 0 || ContinuationBytes(text, length) + 1 < length) return none;
  char32_t code = first & (0x7Fu >> length);
  for (size_t i = 1; i < length; ++i) code = code << 6 | (ByteAt(text, i) & 0x3Fu);
  if (code < kSmallest[length] || code > kLargest) return none;
  return {code, length, true};
}

bool IsCutCharacter(std::string_view text) {
  if (text.empty()) return false;
  const size_t length = LengthBy(ByteAt(text, 0));
  return text.size() < length && ContinuationBytes(text, length) + 1 == text.size();
}

void AppendUtf8(std::string& out, char32_t code) {
  const auto put = [&](char32_t byte) { out.push_back(static_cast<char>(byte)); };
  const auto tail = [&](int shift) { put(0x80 | (code >> shift & 0x3F)); };
  if (code < 0x80) return put(code);
  if (code < 0x800) {
    put(0xC0 | code >> 6);
  } else if (code < 0x10000) {
    put(0xE0 | code >> 12);
    tail(6);
  } else {
    put(0xF0 | code >> 18);
    tail(12);
    tail(6);
  }
  tail(0);
}

void AppendEscape(std::string& out, char32_t code) {
  constexpr char kDigits[] = "0123456789abcdef";
  out += code < 0x100 ? "\\x" : "\\u";
  for (int shift = code < 0x100 ? 4 : 12; shift >= 0; shift -= 4) {
    out.push_back(kDigits[code >> shift & 0xF]);
  }
}

std::string VisibleText(std::string_view text) { return Shown(text, /*keeps_lines=*/false); }

std::string VisibleLines(std::string_view text) { return Shown(text, /*keeps_lines=*/true); }

std::string FromModifiedUtf8(std::string text) {
  constexpr std::string_view kNul("\xC0\x80", 2);
  if (text.find_first_of("\xC0\xED") == std::string::npos) return text;
  std::string utf8;
  for (std::string_view rest = text; !rest.empty();) {
    if (rest.substr(0, kNul.size()) == kNul) {
      utf8.push_back('\0');
      rest.remove_prefix(kNul.size());
      continue;
    }
    const Character c = FirstCharacter(rest);
    const std::string_view next = rest.substr(c.bytes);
    const Character low =
        IsHighSurrogate(c.code) && !next.empty() ? FirstCharacter(next) : Character();
    if (c.is_valid && low.is_valid && IsLowSurrogate(low.code)) {
      AppendUtf8(utf8, 0x10000 + ((c.code - 0xD800) << 10) + (low.code - 0xDC00));
      rest.remove_prefix(c.bytes + low.bytes);
      continue;
    }
    utf8.append(rest.substr(0, c.bytes));
    rest.remove_prefix(c.bytes);
  }
  return utf8;
}

std::string ToModifiedUtf8(std::string_view text) {
  std::string modified;
  while (!text.empty()) {
    const Character c = FirstCharacter(text);
    if (c.is_valid && c.code >= 0x10000) {
      AppendUtf8(modified, 0xD800 + ((c.code - 0x10000) >> 10));
      AppendUtf8(modified, 0xDC00 + (c.code & 0x3FF));
    } else if (text.front() == '\0') {
      modified += "\xC0\x80";
    } else {
      modified.append(text.substr(0, c.bytes));
    }
    text.remove_prefix(c.bytes);
  }
  return modified;
}

}  // namespace jtrace
