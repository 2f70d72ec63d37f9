#include "agent/options/option_items.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/strip.h"
#include "agent/native_hooks/cpp_name.h"

namespace jtrace {
namespace {

using NameTest = absl::FunctionRef<bool(absl::string_view)>;

absl::string_view ItemName(absl::string_view item) {
  const size_t equals = item.find('=');
  if (equals == absl::string_view::npos) return "";
  return absl::StripAsciiWhitespace(item.substr(0, equals));
}

// The end of the value of hook= at the beginning of `text`.
size_t EndOfHook(absl::string_view text, NameTest is_option) {
  size_t first_comma = text.size();
  size_t begin = 0;  // of one of several names, separated by ';'
  while (begin <= text.size()) {
    const absl::string_view name = text.substr(begin, text.find(';', begin) - begin);
    const native_hooks::Nesting nesting = native_hooks::NestingOf(name);
    for (size_t i = 0; i < name.size(); ++i) {
      if (name[i] != ',') continue;
      first_comma = std::min(first_comma, begin + i);
      if (nesting.depths[i] == 0 || is_option(ItemName(name.substr(i + 1)))) {
        const bool is_whole = native_hooks::NestingOf(name.substr(0, i)).is_balanced;
        return is_whole ? begin + i : first_comma;
      }
    }
    if (!nesting.is_balanced && first_comma != text.size()) return first_comma;
    first_comma = text.size();
    begin += name.size() + 1;
  }
  return text.size();
}

}  // namespace

std::vector<absl::string_view> SplitOptions(absl::string_view text, NameTest is_option) {
  std::vector<absl::string_view> items;
  while (!text.empty()) {
    const size_t end = ItemName(text.substr(0, text.find(','))) == "hook"
                           ? EndOfHook(text, is_option)
                           : std::min(text.find(','), text.size());
    const absl::string_view item = text.substr(0, end);
    if (!absl::StripAsciiWhitespace(item).empty()) items.push_back(item);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return items;
}

}  // namespace jtrace
