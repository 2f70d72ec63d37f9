#include "postproc/ship/tries.h"

#include <algorithm>

#include "postproc/support/strings.h"

namespace jtrace::ship {

std::string Tries::KeyOf(const SealedTrace& trace, std::string_view target) {
  return postproc::StrCat(target, "/", trace.name, "\n", trace.inode, " ", trace.modified_ns);
}

int Tries::Failed(const SealedTrace& trace, std::string_view target, bool broken, absl::Time next) {
  constexpr int kMostDoublings = 3;
  Pair& pair = pairs_[KeyOf(trace, target)];
  ++pair.failures;
  pair.broken += broken ? 1 : 0;
  if (pair.failures >= kMost) {
    // Longer than the target rests, so that another trace is tried before.
    const int doublings = std::min(pair.failures - kMost, kMostDoublings);
    pair.rests_until = next + absl::Minutes(1) * (1 << doublings);
  }
  return pair.broken;
}

}  // namespace jtrace::ship
