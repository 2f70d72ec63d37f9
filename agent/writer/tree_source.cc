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

void Encode(const TreeUpdate& update, uint32_t thread, proto::Chunk& chunk) {
  proto::TreeDelta* delta = chunk.add_tree();
  delta->set_thread(thread);
  delta->set_folded_threads(update.members);
  DeltaCoder defined;
  DeltaCoder counted;
  for (const NodeUpdate& node : update.nodes) {
    if (node.is_new) {
      delta->add_new_node(defined.Next(node.node));
      delta->add_new_parent(node.parent);
      delta->add_new_routine(node.routine);
    }
    delta->add_node(counted.Next(node.node));
    delta->add_calls(node.calls);
    delta->add_jitted(node.jitted);
  }
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
  collector_.Collect([&](const TreeUpdate& update) {
    if (update.nodes.empty()) return;
    Encode(update,
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
