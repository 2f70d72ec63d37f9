#include "postproc/reader/text_format.h"

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
