#include "agent/writer/tree_source.h"

namespace jtrace::writer {
namespace {

// Numbers of a row as differences, which compress to a byte each.
class DeltaCoder {
 public:
  int32_t Next(uint32_t value) {
    const auto delta = static_cast<int32_t>(value - last_);
    last_ = value;
    return delta;
  }

 private:
  uint32_t last_ = 0;
};

// Of a node that only a log passed through so far, nothing is known.
bool HasTime(const NodeUpdate& node) {
  return node.calls != 0 || node.time.base != 0 || node.time.off != 0;
}

// New nodes, and the counts of those of which no time is known.
void EncodeCounts(const TreeUpdate& update, bool has_times, proto::TreeDelta& delta) {
  DeltaCoder defined;
  DeltaCoder counted;
  for (const NodeUpdate& node : update.nodes) {
    if (node.is_new) {
      delta.add_new_node(defined.Next(node.node));
      delta.add_new_parent(node.parent);
      delta.add_new_routine(node.routine);
    }
    if (has_times && HasTime(node)) continue;
    delta.add_node(counted.Next(node.node));
    delta.add_calls(node.calls);
    delta.add_jitted(node.jitted);
  }
}

// The greatest is rounded up and the others down, so that calls * least <= base <= calls *
// greatest.
void EncodeTimes(const TreeUpdate& update, const TickScale& scale, proto::TreeDelta& delta) {
  DeltaCoder counted;
  for (const NodeUpdate& node : update.nodes) {
    if (!HasTime(node)) continue;
    delta.add_node(counted.Next(node.node));
    delta.add_calls(node.calls);
    delta.add_jitted(node.jitted);
    delta.add_base_ns(scale.Nanos(node.time.base));
    delta.add_off_ns(scale.Nanos(node.time.off));
    delta.add_min_base_ns(scale.Nanos(node.time.least));
    delta.add_max_base_ns(scale.NanosUp(node.time.greatest));
  }
}

// `scale`: null without a clock.
void Encode(const TreeUpdate& update, const TickScale* scale, uint32_t thread,
            proto::Chunk& chunk) {
  proto::TreeDelta* counts = chunk.add_tree();
  counts->set_thread(thread);
  counts->set_folded_threads(update.members);
  EncodeCounts(update, scale != nullptr, *counts);
  if (scale == nullptr) return;
  proto::TreeDelta* times = chunk.add_tree();
  times->set_thread(thread);
  times->set_folded_threads(update.members);
  EncodeTimes(update, *scale, *times);
}

void Encode(const FlatUpdate& update, uint32_t thread, proto::Chunk& chunk) {
  proto::TreeDelta* delta = chunk.add_tree();
  delta->set_thread(thread);
  DeltaCoder counted;
  for (const RoutineUpdate& routine : update.routines) {
    delta->add_routine(counted.Next(routine.routine));
    delta->add_routine_calls(routine.calls);
    delta->add_routine_jitted(routine.jitted);
  }
}

}  // namespace

void TreeSource::Poll(proto::Chunk&) { collector_.Poll(); }

void TreeSource::Seal(uint64_t, proto::Chunk& chunk) {
  if (scale_ != nullptr) scale_->Update();
  collector_.Collect([&](const TreeUpdate& update) {
    if (update.nodes.empty()) return;
    Encode(update, scale_,
           update.group != 0 ? groups_.NumberOfGroup(update.group)
                             : threads_.NumberOfJava(update.java_tid),
           chunk);
  });
  losses_.Set("calls.no_memory", Severity::kError, collector_.lost_calls(),
              "calls that found no memory for their tree node",
              "count fewer methods: include=com.acme.** or record=flat");
}

void FlatSource::Seal(uint64_t, proto::Chunk& chunk) {
  const auto limit = static_cast<uint32_t>(encoder_.routines() + 1);
  collector_.Collect(limit, [&](const FlatUpdate& update) {
    if (update.routines.empty()) return;
    // Virtual threads share one set of counters.
    Encode(update,
           update.java_tid != 0 ? threads_.NumberOfJava(update.java_tid)
                                : groups_.NumberOfGroup(groups_.VirtualThreads()),
           chunk);
  });
}

}  // namespace jtrace::writer
