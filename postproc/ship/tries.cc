#include "postproc/ship/tries.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "postproc/support/strings.h"

namespace jtrace::ship {

std::string Tries::NameOf(const SealedTrace& trace) {
  return postproc::StrCat(trace.name, "\n", trace.inode, " ", trace.modified_ns);
}

void Tries::ForgetAllBut(const std::vector<SealedTrace>& traces) {
  absl::flat_hash_set<std::string> kept;
  for (const SealedTrace& trace : traces) kept.insert(NameOf(trace));
  absl::erase_if(pairs_, [&](const auto& entry) { return !kept.contains(entry.first.first); });
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
