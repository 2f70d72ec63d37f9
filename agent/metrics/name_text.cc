#include "agent/metrics/name_text.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"

namespace jtrace::metrics {
namespace {

constexpr char32_t kNoCharacter = 0xFFFD;

struct Decoded {
  char32_t character = kNoCharacter;
  size_t bytes = 1;
};

constexpr bool IsHighSurrogate(char32_t c) { return c >= 0xD800 && c < 0xDC00; }
constexpr bool IsLowSurrogate(char32_t c) { return c >= 0xDC00 && c < 0xE000; }

// One sequence of RFC 3629; surrogates are let through.
Decoded DecodeOne(absl::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return {first, 1};
  const size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC0 || first > 0xF4 || text.size() < bytes) return {};
  char32_t c = first & (0x7Fu >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {};
    c = c << 6 | (byte(i) & 0x3Fu);
  }
  constexpr std::array<char32_t, 5> kSmallest = {0, 0, 0x80, 0x800, 0x10000};
  // Modified UTF-8 writes U+0000 in two bytes.
  const bool is_overlong = c < kSmallest[bytes] && c != 0;
  if (is_overlong || c > 0x10FFFF) return {};
  return {c, bytes};
}

// A character of modified UTF-8.
Decoded Decode(absl::string_view text) {
  const Decoded one = DecodeOne(text);
  if (IsLowSurrogate(one.character)) return {kNoCharacter, one.bytes};
  if (!IsHighSurrogate(one.character)) return one;
  const absl::string_view rest = text.substr(one.bytes);
  const Decoded low = rest.empty() ? Decoded() : DecodeOne(rest);
  if (!IsLowSurrogate(low.character)) return {kNoCharacter, one.bytes};
  return {0x10000 + ((one.character - 0xD800) << 10) + (low.character - 0xDC00),
          one.bytes + low.bytes};
}

void Append(char32_t c, std::string& out) {
  const auto tail = [&](int shift) { out += static_cast<char>(0x80 | (c >> shift & 0x3F)); };
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xC0 | c >> 6);
    tail(0);
  } else if (c < 0x10000) {
    out += static_cast<char>(0xE0 | c >> 12);
    tail(6);
    tail(0);
  } else {
    out += static_cast<char>(0xF0 | c >> 18);
    tail(12);
    tail(6);
    tail(0);
  }
}

template <typename Visit>
void ForEach(absl::string_view text, Visit visit) {
  while (!text.empty()) {
    const Decoded decoded = Decode(text);
    visit(decoded.character);
    text.remove_prefix(decoded.bytes);
  }
}

// Control characters (C0, DEL, C1), separators of lines, and what changes the text's direction.
constexpr bool IsObeyed(char32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x061C || (c >= 0x200E && c <= 0x200F) ||
         (c >= 0x2028 && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069) || c == 0xFEFF;
}

// The blocks of wide characters, roughly (UAX 11).
constexpr size_t WidthOf(char32_t c) {
  const bool is_wide = (c >= 0x1100 && c < 0x1160) || (c >= 0x2E80 && c < 0xA4D0) ||
                       (c >= 0xAC00 && c < 0xD7A4) || (c >= 0xF900 && c < 0xFB00) ||
                       (c >= 0xFE30 && c < 0xFE70) || (c >= 0xFF00 && c < 0xFF61) ||
                       (c >= 0x1F300 && c < 0x1F650) || (c >= 0x1F900 && c < 0x1FA00) ||
                       (c >= 0x20000 && c < 0x40000);
  return is_wide ? 2 : 1;
}

}  // namespace

std::string Utf8Of(absl::string_view text) {
  std::string out;
  ForEach(text, [&](char32_t c) { Append(c, out); });
  return out;
}

std::string JsonString(absl::string_view utf8) {
  std::string out = "\"";
  for (const char c : utf8) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      absl::StrAppendFormat(&out, "\\u%04x", c);
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string PrometheusLabel(absl::string_view utf8) {
  return absl::StrReplaceAll(utf8, {{"\\", "\\\\"}, {"\"", "\\\""}, {"\n", "\\n"}});
}

std::string Printable(absl::string_view utf8) {
  std::string out;
  ForEach(utf8, [&](char32_t c) { Append(IsObeyed(c) ? U'?' : c, out); });
  return out;
}

size_t ColumnsOf(absl::string_view utf8) {
  size_t columns = 0;
  ForEach(utf8, [&](char32_t c) { columns += WidthOf(c); });
  return columns;
}

std::string Column(absl::string_view utf8, size_t columns) {
  const bool is_cut = ColumnsOf(utf8) > columns;
  const size_t room = is_cut ? columns - 1 : columns;
  std::string out;
  size_t used = 0;
  bool is_full = false;
  ForEach(utf8, [&](char32_t c) {
    is_full = is_full || used + WidthOf(c) > room;
    if (is_full) return;
    used += WidthOf(c);
    Append(c, out);
  });
  if (is_cut) {
    out += "…";
    ++used;
  }
  return out + std::string(columns - used, ' ');
}

}  // namespace jtrace::metrics
