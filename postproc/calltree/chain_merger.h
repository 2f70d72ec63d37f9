// Attaches sampled chains to the tree that events built (S3.19, FORMATS §2).
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "postproc/calltree/call_tree.h"
#include "postproc/model/ids.h"
#include "postproc/model/record_visitor.h"
#include "postproc/model/trace_model.h"

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

// The tree may grow. No thread but one uses it.
class PlainPaths {
 public:
  explicit PlainPaths(const CallTree& tree) : tree_(tree) {}

  // Of the node's path, from 1 without gaps in the order in which they are requested.
  uint32_t Of(NodeId id);

 private:
  uint32_t Number(NodeId id);

  const CallTree& tree_;
  uint32_t last_ = 0;
  std::vector<uint32_t> number_;  // by node; 0: not yet known
  std::vector<NodeId> pending_;
  // By the parent's number, routine and space.
  absl::flat_hash_map<std::pair<uint64_t, ChildSpace>, uint32_t> children_;
};

// --merge=
enum class MergeMode { kChain, kEmbed, kNone };

// How well samples matched the event tree.
struct MergeStats {
  int64_t samples = 0;         // sample records (0x40)
  int64_t unwinds = 0;         // 0x41
  int64_t ticks = 0;           // Σ weights of the samples
  int64_t whole = 0;           // samples with frames and without a marker such as "[truncated]"
  int64_t frozen = 0;          // of these: with the marker "[frozen_frames]"
  int64_t placed = 0;          // samples with at least one frame matched
  int64_t without_events = 0;  // samples of threads with no open activation
  int64_t unmatched = 0;       // samples and unwinds placed under [unmatched]
  int64_t without_frames = 0;  // of the samples
};

class ChainMerger {
 public:
  ChainMerger(MergeMode mode, TraceModel& model, CallTree& tree);

  // `activations`: nodes of the open activations, outermost first, without the thread's root.
  // `matcher`: of the thread, or of what else these are successive activations of.
  void Merge(NodeId root, absl::Span<const NodeId> activations, FrameMatcher& matcher,
             const SampleRecord& sample);

  const MergeStats& stats() const { return stats_; }

 private:
  void MergeChain(NodeId root, absl::Span<const NodeId> activations, FrameMatcher& matcher,
                  const SampleRecord& sample);
  void Embed(NodeId current, const SampleRecord& sample);
  // Chains the sample's frames [begin, end) below `parent`; returns the innermost one's node.
  NodeId AddChain(NodeId parent, const SampleRecord& sample, size_t begin, size_t end,
                  ChildSpace space);
  void CountPending(NodeId id);
  void Tick(NodeId id, const SampleRecord& sample);
  void CountWhole(absl::Span<const FrameId> frames);

  const MergeMode mode_;
  const TraceModel& model_;
  CallTree& tree_;
  const RoutineId unmatched_;
  const RoutineId no_frames_;
  const RoutineId stack_40_;
  const RoutineId stack_41_;
  MergeStats stats_;
  // By node: the number of the last sample that counted it. A node counts once for each sample,
  // however often the chain passes it.
  uint64_t current_sample_ = 0;
  std::vector<uint64_t> counted_in_;
  // The same by path without places, as soon as there are places.
  bool has_places_ = false;
  PlainPaths paths_;
  std::vector<uint64_t> path_counted_in_;
};

}  // namespace jtrace::postproc
