#include "agent/metrics/name_text.h"

#include <string_view>

#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "common/visible_text.h"

namespace jtrace::metrics {
namespace {

constexpr char32_t kNoCharacter = 0xFFFD;

std::string_view Std(absl::string_view text) { return {text.data(), text.size()}; }

template <typename Visit>
void ForEach(absl::string_view text, Visit visit) {
  while (!text.empty()) {
    const Character c = FirstCharacter(Std(text));
    visit(c.is_valid && !IsSurrogate(c.code) ? c.code : kNoCharacter);
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

std::string Utf8Of(absl::string_view text) {
  std::string out;
  ForEach(FromModifiedUtf8(std::string(text)), [&](char32_t c) { AppendUtf8(out, c); });
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

std::string Printable(absl::string_view utf8) { return VisibleText(Std(utf8)); }

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
    AppendUtf8(out, c);
  });
  if (is_cut) {
    out += "…";
    ++used;
  }
  return out + std::string(columns - used, ' ');
}

}  // namespace jtrace::metrics
