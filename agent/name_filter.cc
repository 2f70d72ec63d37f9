#include "agent/name_filter.h"

#include <algorithm>
#include <string_view>

#include "proto/glob.h"

namespace jtrace {

bool NameFilter::Wants(absl::string_view name) const {
  const std::string_view text(name.data(), name.size());
  return patterns_.empty() ||
         std::any_of(patterns_.begin(), patterns_.end(),
                     [&](const std::string& pattern) { return GlobMatches(pattern, text); });
}

}  // namespace jtrace
