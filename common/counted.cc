#include "common/counted.h"

#include <algorithm>
#include <utility>

namespace jtrace {
namespace {

// Of "classes", "entries", "loops"; others as they are.
std::string SingularOf(std::string_view word) {
  const auto without = [&](size_t letters) {
    return std::string(word.substr(0, word.size() - letters));
  };
  if (word.ends_with("ies")) return without(3) + "y";
  for (const std::string_view ending : {"sses", "ches", "shes", "xes"}) {
    if (word.ends_with(ending) && !word.ends_with("aches")) return without(2);  // but "caches"
  }
  return word.ends_with('s') && !word.ends_with("ss") ? without(1) : std::string(word);
}

}  // namespace

std::string InSingular(std::string_view what) {
  std::string text(what);
  // The noun is the first or the second word: "chunks", "event logs".
  size_t begin = 0;
  for (int word = 0; word < 2 && begin < text.size(); ++word) {
    const size_t end = std::min(text.find_first_of(" ,:", begin), text.size());
    const std::string_view plural = std::string_view(text).substr(begin, end - begin);
    if (const std::string one = SingularOf(plural); one != plural) {
      text.replace(begin, end - begin, one);
      break;
    }
    begin = end + 1;
  }
  constexpr std::pair<std::string_view, std::string_view> kVerbs[] = {
      {" belong ", " belongs "}, {" differ ", " differs "},     {" to their ", " to its "},
      {" stay ", " stays "},     {"they return", "it returns"}, {" they are ", " it is "}};
  for (const auto& [from, to] : kVerbs) {
    const size_t at = text.find(from);
    if (at != std::string::npos) text.replace(at, from.size(), to);
  }
  return text;
}

}  // namespace jtrace
