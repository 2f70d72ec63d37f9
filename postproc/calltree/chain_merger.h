// Attaches sampled chains to the tree that events built (S3.19, FORMATS §2).
#pragma once

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "postproc/calltree/call_tree.h"
#include "postproc/calltree/frame_matcher.h"
#include "postproc/calltree/plain_paths.h"
#include "postproc/model/record_visitor.h"
#include "postproc/model/trace_model.h"

namespace jtrace::postproc {

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
