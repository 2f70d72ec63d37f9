// Matches a sampled chain against the activations that the events say are open (FORMATS §2).
#pragma once

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "postproc/model/ids.h"

namespace jtrace::postproc {

// Walks a chain from its innermost frame outwards. Each activation matches at most once, and a
// match skips the activations inside it. Linear in the sum of both lengths.
class FrameMatcher {
 public:
  static constexpr size_t kNoMatch = static_cast<size_t>(-1);

  // `activations`: routines of the open activations, root first.
  void Start(absl::Span<const RoutineId> activations);
  // The index of the activation that the next frame outwards matches, or kNoMatch.
  size_t Match(RoutineId routine);

 private:
  std::vector<RoutineId> activations_;
  size_t remaining_ = 0;               // activations [0, remaining_) may still match
  std::vector<uint32_t> open_counts_;  // by routine, of the remaining activations
};

}  // namespace jtrace::postproc
