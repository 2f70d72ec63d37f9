#include "postproc/reader/text_format.h"

#include <algorithm>

namespace jtrace::postproc::text {

void AppendEscaped(std::string& out, std::string_view field) {
  for (const char c : field) {
    switch (c) {
      case '\t':
        out += "\\t";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\\':
        out += "\\\\";
        break;
      default:
        out.push_back(c);
    }
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

std::string_view Unescape(std::string_view field, std::string& storage) {
  if (field.find('\\') == std::string_view::npos) return field;
  storage.clear();
  for (size_t i = 0; i < field.size(); ++i) {
    const char next = field[i] == '\\' && i + 1 < field.size() ? field[i + 1] : '\0';
    if (next == 't' || next == 'n' || next == '\\') {
      storage.push_back(next == 't' ? '\t' : next == 'n' ? '\n' : '\\');
      ++i;
    } else {
      storage.push_back(field[i]);
    }
  }
  return storage;
}

}  // namespace jtrace::postproc::text
