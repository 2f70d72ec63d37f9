#include "agent/name_filter.h"

#include <algorithm>

namespace jtrace {
namespace {

// Goes back to the last `*` where the text does not go on as the pattern does.
bool Matches(absl::string_view pattern, absl::string_view text) {
  size_t p = 0, t = 0;
  size_t star = absl::string_view::npos, star_text = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_text = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != absl::string_view::npos) {
      p = star + 1;
      t = ++star_text;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == absl::string_view::npos;
}

}  // namespace

bool NameFilter::Wants(absl::string_view name) const {
  return patterns_.empty() ||
         std::any_of(patterns_.begin(), patterns_.end(),
                     [&](const std::string& pattern) { return Matches(pattern, name); });
}

}  // namespace jtrace
