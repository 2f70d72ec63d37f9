// Patterns of names, as in the agent's threads= and jtrace-post's --thread=.
#pragma once

#include <cstddef>
#include <string_view>

namespace jtrace {

// `*` matches any characters, `?` one; all others, including brackets, match themselves, because
// names such as "[virtual threads]" contain them. Takes time of at most |glob| * |text|.
inline bool GlobMatches(std::string_view glob, std::string_view text) {
  size_t g = 0;
  size_t t = 0;
  size_t star = std::string_view::npos;  // the last '*' seen, and its text so far
  size_t star_text = 0;
  while (t < text.size()) {
    if (g < glob.size() && glob[g] == '*') {
      star = g++;
      star_text = t;
    } else if (g < glob.size() && (glob[g] == '?' || glob[g] == text[t])) {
      ++g;
      ++t;
    } else if (star != std::string_view::npos) {
      g = star + 1;  // back to it: it matches one more
      t = ++star_text;
    } else {
      return false;
    }
  }
  return glob.find_first_not_of('*', g) == std::string_view::npos;
}

}  // namespace jtrace
