#include "common/json_writer.h"

#include <algorithm>
#include <cmath>

#include "common/utf8.h"

namespace jtrace {
namespace {

constexpr char kHexDigits[] = "0123456789abcdef";

bool IsPlain(char c) {
  return static_cast<unsigned char>(c) >= 0x20 && static_cast<unsigned char>(c) < 0x80 &&
         c != '"' && c != '\\';
}

void AppendEscaped(std::string_view utf8, std::string& out) {
  for (const char c : utf8) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += "\\u00";
      out += kHexDigits[c >> 4];
      out += kHexDigits[c & 15];
    } else {
      out += c;
    }
  }
}

}  // namespace

std::string JsonString(std::string_view text) {
  std::string out;
  out.reserve(text.size() + 2);
  out += '"';
  // Most names are plain: a trace has hundreds of thousands.
  if (std::all_of(text.begin(), text.end(), IsPlain)) {
    out += text;
  } else {
    AppendEscaped(ValidUtf8(text), out);
  }
  return out += '"';
}

std::string JsonNumber(double value) {
  if (!std::isfinite(value)) return "null";
  char digits[40];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  std::string number(digits, end);
  if (number.find_first_of(".e") == std::string::npos) number += ".0";
  return number;
}

}  // namespace jtrace
