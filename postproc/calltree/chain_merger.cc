#include "postproc/calltree/chain_merger.h"

#include <algorithm>

#include "postproc/support/strings.h"

namespace jtrace::postproc {

ChainMerger::ChainMerger(MergeMode mode, TraceModel& model, CallTree& tree)
    : mode_(mode),
      model_(model),
      tree_(tree),
      unmatched_(model.InternRoutine("[unmatched]")),
      no_frames_(model.InternRoutine("[no_frames]")),
      stack_40_(model.InternRoutine("stack_0x40")),
      stack_41_(model.InternRoutine("stack_0x41")),
      paths_(tree) {}

void ChainMerger::Merge(NodeId root, absl::Span<const NodeId> activations, FrameMatcher& matcher,
                        const SampleRecord& sample) {
  ++current_sample_;
  has_places_ = has_places_ || tree_.has_places() || !sample.places.empty();
  if (sample.is_unwind) {
    ++stats_.unwinds;
  } else {
    ++stats_.samples;
    stats_.ticks = WrapAdd(stats_.ticks, sample.weight);
    if (activations.empty()) ++stats_.without_events;
    CountWhole(sample.frames);
  }
  const NodeId current = activations.empty() ? root : activations.back();
  if (sample.frames.empty()) {
    if (!sample.is_unwind) ++stats_.without_frames;
    Tick(tree_.Child(current, no_frames_), sample);
    return;
  }
  switch (mode_) {
    case MergeMode::kChain:
      MergeChain(root, activations, matcher, sample);
      break;
    case MergeMode::kEmbed:
      Embed(current, sample);
      break;
    case MergeMode::kNone:
      Tick(AddChain(root, sample, 0, sample.frames.size(), ChildSpace::kApart), sample);
      break;
  }
}

void ChainMerger::MergeChain(NodeId root, absl::Span<const NodeId> activations,
                             FrameMatcher& matcher, const SampleRecord& sample) {
  matcher.Start(activations, tree_);

  // frames [i, pending_end) are pending.
  const absl::Span<const FrameId> frames = sample.frames;
  size_t pending_end = frames.size();
  NodeId ticked;
  bool matched = false;
  for (size_t i = frames.size(); i-- > 0;) {
    const size_t match = matcher.Match(model_.frame(frames[i]).routine);
    if (match == FrameMatcher::kNoMatch) continue;
    matched = true;
    const NodeId innermost =
        AddChain(activations[match], sample, i + 1, pending_end, ChildSpace::kMerged);
    if (!ticked) ticked = innermost;
    pending_end = i;
  }
  NodeId parent = root;
  if (!matched && !activations.empty()) {
    ++stats_.unmatched;
    parent = tree_.Child(root, unmatched_);
  }
  const NodeId innermost = AddChain(parent, sample, 0, pending_end, ChildSpace::kMerged);
  Tick(ticked ? ticked : innermost, sample);
  if (matched && !sample.is_unwind) ++stats_.placed;
}

void ChainMerger::Embed(NodeId current, const SampleRecord& sample) {
  const NodeId stack = tree_.Child(current, sample.is_unwind ? stack_41_ : stack_40_);
  Tick(AddChain(stack, sample, 0, sample.frames.size(), ChildSpace::kMerged), sample);
}

// A frame was called from where the one before it was.
NodeId ChainMerger::AddChain(NodeId parent, const SampleRecord& sample, size_t begin, size_t end,
                             ChildSpace space) {
  NodeId at = parent;
  for (size_t i = begin; i < end; ++i) {
    const CallSite place = i == 0 || sample.places.empty() ? kNoCallSite : sample.places[i - 1];
    at = tree_.Child(at, model_.frame(sample.frames[i]).routine, space, place);
    // Everything below a separate node is separate.
    space = ChildSpace::kMerged;
    CountPending(at);
  }
  return at;
}

void ChainMerger::CountPending(NodeId id) {
  if (counted_in_.size() < id.value) counted_in_.resize(id.value);
  uint64_t& last = counted_in_[id.value - 1];
  if (last == current_sample_) return;
  last = current_sample_;
  tree_.AddSamples(id, 1);
  if (!has_places_) return;
  const uint32_t path = paths_.Of(id);
  if (path_counted_in_.size() < path) path_counted_in_.resize(path);
  uint64_t& last_of_path = path_counted_in_[path - 1];
  if (last_of_path == current_sample_) tree_.AddRepeatedSamples(id, 1);
  last_of_path = current_sample_;
}

void ChainMerger::Tick(NodeId id, const SampleRecord& sample) {
  if (sample.is_unwind) return;
  tree_.NoteTick(id);
  tree_.AddTicks(id, sample.weight);
}

// The JVM has not put a resumed virtual thread's outer callers back on the stack: all that is there
// was walked.
void ChainMerger::CountWhole(absl::Span<const FrameId> frames) {
  if (frames.empty()) return;
  bool is_frozen = false;
  for (const FrameId id : frames) {
    const Frame& frame = model_.frame(id);
    if (frame.origin != Origin::kNone) continue;
    const std::string_view name = model_.RoutineName(frame.routine);
    if (name == "[frozen_frames]") {
      is_frozen = true;
    } else if (name.starts_with("[")) {
      return;
    }
  }
  ++stats_.whole;
  stats_.frozen += is_frozen ? 1 : 0;
}

// The parent has its number.
uint32_t PlainPaths::Number(NodeId id) {
  const CallNode& node = tree_.node(id);
  if (!node.parent) return ++last_;
  const uint64_t key = uint64_t{number_[node.parent.value - 1]} << 32 | node.routine.value;
  const auto [entry, inserted] = children_.try_emplace({key, node.space}, last_ + 1);
  if (inserted) ++last_;
  return entry->second;
}

uint32_t PlainPaths::Of(NodeId id) {
  if (number_.size() < tree_.size()) number_.resize(tree_.size());
  for (NodeId at = id; at && number_[at.value - 1] == 0; at = tree_.parent(at)) {
    pending_.push_back(at);
  }
  while (!pending_.empty()) {
    const NodeId next = pending_.back();
    pending_.pop_back();
    number_[next.value - 1] = Number(next);
  }
  return number_[id.value - 1];
}

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
