#include "postproc/calltree/frame_matcher.h"

#include <algorithm>

namespace jtrace::postproc {

// Each node has one path: where both chains have the same node, everything outside it is the same.
size_t FrameMatcher::CountKept(absl::Span<const NodeId> activations) const {
  size_t same = 0;
  size_t different = std::min(activations.size(), activations_.size());
  while (same < different) {
    const size_t middle = same + (different - same) / 2;
    if (activations[middle] == activations_[middle].node) {
      same = middle + 1;
    } else {
      different = middle;
    }
  }
  return same;
}

void FrameMatcher::Start(absl::Span<const NodeId> activations, const CallTree& tree) {
  const size_t kept = CountKept(activations);
  while (activations_.size() > kept) {
    const auto places = places_.find(activations_.back().routine);
    places->second.pop_back();
    if (places->second.empty()) places_.erase(places);
    activations_.pop_back();
  }
  for (const NodeId node : activations.subspan(kept)) {
    const RoutineId routine = tree.routine(node);
    places_[routine].push_back(static_cast<uint32_t>(activations_.size()));
    activations_.push_back({node, routine});
  }
  remaining_ = activations_.size();
}

size_t FrameMatcher::Match(RoutineId routine) {
  if (remaining_ == 0) return kNoMatch;
  const auto found = places_.find(routine);
  if (found == places_.end()) return kNoMatch;
  const auto& places = found->second;
  auto inside = places.end();
  if (places.back() >= remaining_) {
    inside = std::lower_bound(places.begin(), places.end(), remaining_);
  }
  if (inside == places.begin()) return kNoMatch;
  remaining_ = *--inside;
  return remaining_;
}

}  // namespace jtrace::postproc
