#include "postproc/reader/text_format.h"

#include <algorithm>
#include <charconv>

#include "common/visible_text.h"
#include "postproc/model/path_step.h"

namespace jtrace::postproc::text {

namespace {

// The first byte of every escaped character except the backslash: C0 and DEL are themselves, C1
// begins with 0xC2, surrogates with 0xED.
bool MayBeEscaped(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7F || byte == 0xC2 || byte == 0xED || c == '\\';
}

// The value of `digits` hexadecimal digits; -1: there are fewer.
int HexValue(std::string_view text, size_t digits) {
  if (text.size() < digits) return -1;
  int value = 0;
  const char* const end = text.data() + digits;
  const auto result = std::from_chars(text.data(), end, value, 16);
  return result.ec == std::errc() && result.ptr == end && text[0] != '-' ? value : -1;
}

// Appends the meaning of the escape at the beginning of `text`. Returns its length; 0: not an
// escape.
size_t AppendUnescaped(std::string& out, std::string_view text) {
  if (text.size() < 2) return 0;
  switch (text[1]) {
    case 't':
      out.push_back('\t');
      return 2;
    case 'n':
      out.push_back('\n');
      return 2;
    case '\\':
      out.push_back('\\');
      return 2;
    case 'x':
    case 'u': {
      const size_t digits = text[1] == 'x' ? 2 : 4;
      const int code = HexValue(text.substr(2), digits);
      if (code < 0) return 0;
      AppendUtf8(out, static_cast<char32_t>(code));
      return 2 + digits;
    }
    default:
      return 0;
  }
}

}  // namespace

void AppendEscaped(std::string& out, std::string_view field) {
  while (!field.empty()) {
    const auto plain = std::find_if(field.begin(), field.end(), MayBeEscaped);
    out.append(field.begin(), plain);
    field.remove_prefix(static_cast<size_t>(plain - field.begin()));
    if (field.empty()) return;
    const Character c = FirstCharacter(field);
    if (c.code == '\t' || c.code == '\n' || c.code == '\\') {
      out += c.code == '\t' ? "\\t" : c.code == '\n' ? "\\n" : "\\\\";
    } else if (c.is_valid && (IsControl(c.code) || IsSurrogate(c.code))) {
      AppendEscape(out, c.code);
    } else {
      out.append(field.substr(0, c.bytes));
    }
    field.remove_prefix(c.bytes);
  }
}

void AppendEscapedKey(std::string& out, std::string_view key) {
  const size_t begin = out.size();
  AppendEscaped(out, key);
  for (size_t at = begin; (at = out.find(',', at)) != std::string::npos; at += 2) {
    out.insert(at, 1, '\\');
  }
}

std::string_view NextPair(std::string_view& list) {
  size_t end = 0;
  while (end < list.size() && list[end] != ',') end += list[end] == '\\' ? 2 : 1;
  end = std::min(end, list.size());
  const std::string_view pair = list.substr(0, end);
  list.remove_prefix(std::min(end + 1, list.size()));
  return pair;
}

std::string WithPlainCommas(std::string_view key) {
  std::string plain;
  for (size_t i = 0; i < key.size(); ++i) {
    const bool is_escape = key[i] == '\\' && i + 1 < key.size();
    if (is_escape && key[i + 1] != ',') plain.push_back(key[i]);
    if (is_escape) ++i;
    plain.push_back(key[i]);
  }
  return plain;
}

void AppendPlace(std::string& out, CallSite place) {
  if (place == kNoCallSite) return;
  out.push_back('\\');
  out += PlaceText(place);
}

CallSite TakePlace(std::string_view& field) {
  const size_t digits = field.find_last_not_of("0123456789") + 1;
  if (digits < 2 || digits >= field.size()) return kNoCallSite;
  const char kind = field[digits - 1];
  if (kind != ':' && kind != '@') return kNoCallSite;
  // The backslash itself may be escaped.
  const size_t name = field.substr(0, digits - 1).find_last_not_of('\\') + 1;
  if ((digits - 1 - name) % 2 == 0) return kNoCallSite;
  int64_t parsed = 0;
  if (!ParseInteger(field.substr(digits), parsed) || parsed > kMaxInCallSite) return kNoCallSite;
  const auto number = static_cast<uint32_t>(parsed);
  const CallSite place = kind == ':' ? CallSiteOfLine(number) : CallSiteOfBci(number);
  if (place != kNoCallSite) field = field.substr(0, digits - 2);
  return place;
}

std::string_view Unescape(std::string_view field, std::string& storage) {
  if (field.find('\\') == std::string_view::npos) return field;
  storage.clear();
  while (!field.empty()) {
    const size_t escape = std::min(field.find('\\'), field.size());
    storage.append(field.substr(0, escape));
    field.remove_prefix(escape);
    if (field.empty()) break;
    size_t length = AppendUnescaped(storage, field);
    if (length == 0) storage.append(field.substr(0, length = 1));
    field.remove_prefix(length);
  }
  return storage;
}

}  // namespace jtrace::postproc::text
