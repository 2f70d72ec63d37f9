// Finds the open activation of each frame of a sampled chain (FORMATS §2), and of an exit (§1).
#pragma once

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "postproc/calltree/call_tree.h"
#include "postproc/model/ids.h"

namespace jtrace::postproc {

// Walks a chain from its innermost frame outwards. Each activation matches at most once, and a
// match skips the activations inside it. An exit is a chain of one frame. An object belongs to one
// thread: between two of its chains few of its activations change, and only these cost time,
// however many are open.
class FrameMatcher {
 public:
  static constexpr size_t kNoMatch = static_cast<size_t>(-1);

  // `activations`: nodes of the open activations, outermost first, each the parent of the next.
  void Start(absl::Span<const NodeId> activations, const CallTree& tree);
  // The index of the activation that the next frame outwards matches, or kNoMatch.
  size_t Match(RoutineId routine);

 private:
  // The number of the last chain's activations that are still open.
  size_t CountKept(absl::Span<const NodeId> activations) const;

  struct Activation {
    NodeId node;
    RoutineId routine;
  };
  std::vector<Activation> activations_;
  size_t remaining_ = 0;  // activations [0, remaining_) may still match
  // Their indexes by routine, outermost first; only routines that have any.
  absl::flat_hash_map<RoutineId, absl::InlinedVector<uint32_t, 4>> places_;
};

}  // namespace jtrace::postproc
