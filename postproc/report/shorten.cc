#include "postproc/report/shorten.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "common/visible_text.h"

namespace jtrace::postproc {

int DisplayWidth(std::string_view text) {
  return static_cast<int>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;  // not a continuation byte
  }));
}

std::string Shorten(std::string_view text, int width) {
  const int length = DisplayWidth(text);
  if (length <= width) return std::string(text);
  if (width <= 1) return "…";
  const int head = (width - 1) / 2;
  const int tail_begin = length - (width - 1 - head);
  std::string shortened;
  int column = -1;
  bool marked = false;
  for (const char c : text) {
    if ((static_cast<unsigned char>(c) & 0xc0) != 0x80) ++column;
    if (column < head || column >= tail_begin) {
      shortened.push_back(c);
    } else if (!marked) {
      shortened += "…";
      marked = true;
    }
  }
  return shortened;
}

namespace {

// Shortens the package's next segment from `at` on to its first letter; false at the class's name,
// which begins with a capital, or at a name without a package.
bool AbbreviateSegment(std::string& name, size_t& at) {
  const size_t dot = name.find('.', at);
  const size_t parameters = name.find('(', at);
  if (dot == std::string::npos || dot > parameters || !absl::ascii_islower(name[at])) return false;
  // A class in the default package may begin with a small letter: the method's name is not a class.
  if (name.find('.', dot + 1) > parameters) return false;
  name.erase(at + 1, dot - at - 1);
  at += 2;
  return true;
}

}  // namespace

std::string Printable(std::string_view text) { return VisibleText(text); }

std::vector<std::string> WrapWords(std::string_view text, int width) {
  if (width <= 0) return {std::string(text)};
  std::vector<std::string> lines;
  int used = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const int columns = DisplayWidth(word);
    if (lines.empty() || used + 1 + columns > width) {
      lines.emplace_back(word);
      used = columns;
    } else {
      lines.back().append(" ").append(word);
      used += 1 + columns;
    }
  }
  return lines;
}

std::string ShortenName(std::string_view raw_name, int width) {
  std::string name = Printable(raw_name);
  if (width <= 0) return name;
  const bool is_path = name.find(" > ") != std::string::npos;
  if (is_path || DisplayWidth(name) <= width) return Shorten(name, width);
  std::string shortened = name;
  size_t at = std::min(shortened.find_first_not_of(' '), shortened.size());
  while (DisplayWidth(shortened) > width && at < shortened.size()) {
    if (!AbbreviateSegment(shortened, at)) break;
  }
  const size_t open = shortened.find('(');
  if (DisplayWidth(shortened) > width && open != std::string::npos && shortened.ends_with(")") &&
      open + 4 < shortened.size()) {
    shortened = shortened.substr(0, open) + "(…)";
  }
  return Shorten(shortened, width);
}

std::string FitName(std::string_view name, int width, int used) {
  return ShortenName(name, width > 0 ? std::max(width - used, kLeastNameWidth) : 0);
}

std::string_view ShortMethod(std::string_view routine) {
  const std::string_view name = WithoutParameters(routine);
  const size_t method = name.rfind('.');
  const size_t type = method == 0 || method == std::string_view::npos ? std::string_view::npos
                                                                      : name.rfind('.', method - 1);
  return type == std::string_view::npos ? name : name.substr(type + 1);
}

std::string PadLeft(std::string_view text, int width) {
  return std::string(static_cast<size_t>(std::max(0, width - DisplayWidth(text))), ' ')
      .append(text);
}

}  // namespace jtrace::postproc
