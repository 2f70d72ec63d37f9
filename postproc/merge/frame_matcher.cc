#include "postproc/merge/frame_matcher.h"

namespace jtrace::postproc {

void FrameMatcher::Start(absl::Span<const RoutineId> activations) {
  for (const RoutineId routine : activations_) open_counts_[routine.value] = 0;
  activations_.assign(activations.begin(), activations.end());
  remaining_ = activations_.size();
  for (const RoutineId routine : activations_) {
    if (open_counts_.size() <= routine.value) open_counts_.resize(routine.value + size_t{1});
    ++open_counts_[routine.value];
  }
}

size_t FrameMatcher::Match(RoutineId routine) {
  if (routine.value >= open_counts_.size() || open_counts_[routine.value] == 0) return kNoMatch;
  while (remaining_ > 0) {
    const RoutineId innermost = activations_[--remaining_];
    --open_counts_[innermost.value];
    if (innermost == routine) return remaining_;
  }
  return kNoMatch;
}

}  // namespace jtrace::postproc
