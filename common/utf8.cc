#include "common/utf8.h"

#include <algorithm>

#include "common/visible_text.h"

namespace jtrace {
namespace {

constexpr char32_t kReplacement = 0xFFFD;

template <typename Visit>
void ForEachCharacter(std::string_view text, Visit visit) {
  while (!text.empty()) {
    const Character c = FirstCharacter(text);
    visit(c.is_valid && !IsSurrogate(c.code) ? c.code : kReplacement);
    text.remove_prefix(c.bytes);
  }
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

std::string ValidUtf8(std::string_view text) {
  const auto is_ascii = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
  if (std::all_of(text.begin(), text.end(), is_ascii)) return std::string(text);
  std::string out;
  ForEachCharacter(text, [&](char32_t c) { AppendUtf8(out, c); });
  return out;
}

size_t ColumnsOf(std::string_view utf8) {
  size_t columns = 0;
  ForEachCharacter(utf8, [&](char32_t c) { columns += WidthOf(c); });
  return columns;
}

std::string FitColumns(std::string_view utf8, size_t columns) {
  const bool is_cut = ColumnsOf(utf8) > columns;
  const size_t room = is_cut ? columns - 1 : columns;
  std::string out;
  size_t used = 0;
  bool is_full = false;
  ForEachCharacter(utf8, [&](char32_t c) {
    is_full = is_full || used + WidthOf(c) > room;
    if (is_full) return;
    used += WidthOf(c);
    AppendUtf8(out, c);
  });
  if (is_cut) {
    out += "…";
    ++used;
  }
  return out + std::string(columns - used, ' ');
}

}  // namespace jtrace
