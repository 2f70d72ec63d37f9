// The rings of a thread's log, from the one that is read to the one that is written
// (agent/signal_safe/event_ring.h). On the writer thread.
#pragma once

#include <cstdint>

#include "agent/calls/node_search.h"
#include "agent/signal_safe/event_ring.h"
#include "agent/signal_safe/probe_memory.h"

namespace jtrace::calls {

// Returns the ring that is read; null: the thread has none (yet).
signal_safe::EventRing* RingToRead(const signal_safe::ThreadState& state);
// Whether the thread has moved to another ring, so that this one has all records that it will ever
// have.
inline bool HasLeft(const signal_safe::ThreadState& state, const signal_safe::EventRing& ring) {
  return signal_safe::ReadAcquire(state.log_ring) != reinterpret_cast<uintptr_t>(&ring);
}
// Returns the position (bytes) of the thread's next record in a ring that it has not left.
uint64_t NextRecord(const signal_safe::ThreadState& state, const signal_safe::EventRing& ring);

// Returns the ring after `ring`, which the thread has left and which is read to its end. The memory
// of `ring` is returned to the probes.
signal_safe::EventRing& NextRing(signal_safe::Arena* arena, signal_safe::ThreadState& state,
                                 signal_safe::EventRing& ring);
// Releases all rings of a thread that has ended; it has no log any more.
void FreeRings(signal_safe::Arena* arena, signal_safe::ThreadState& state);

// The position of a reader of a thread's log: the node that it has reached, record by record.

// Follows records through the thread's tree, as readers of the trace do. The tree has the node of a
// call before the log has its record. The thread itself is ahead by the records in its rings. On
// the writer thread; the tree may grow at the same time.
class LogReaderPosition {
 public:
  LogReaderPosition(const signal_safe::Arena* arena, signal_safe::Ref at)
      : arena_(arena), at_(at) {}

  signal_safe::Ref at() const { return at_; }
  // Whether the position is a node of the tree. After records that do not fit the tree it is
  // Arena::lost_node, which has no children, until MoveTo.
  bool is_known() const { return at_ != Lost(); }
  void MoveTo(signal_safe::Ref node) { at_ = node; }
  void Enter(uint32_t routine) {
    const signal_safe::Node& node = *signal_safe::At<signal_safe::Node>(arena_, at_);
    const signal_safe::Ref child = FindChild(arena_, node, routine);
    at_ = child != 0 ? child : Lost();
  }
  void Exit(uint32_t routine) {
    const signal_safe::Node& node = *signal_safe::At<signal_safe::Node>(arena_, at_);
    at_ = node.routine == routine ? node.parent : Caller(routine);
  }

 private:
  signal_safe::Ref Lost() const { return signal_safe::RefOf(arena_, &arena_->lost_node); }
  // Returns the caller of the routine's innermost open activation; the position if there is none.
  signal_safe::Ref Caller(uint32_t routine) const;

  const signal_safe::Arena* arena_;
  signal_safe::Ref at_;
};

}  // namespace jtrace::calls
