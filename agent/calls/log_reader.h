// The rings of a thread's log, from the one that is read to the one that is written
// (agent/signal_safe/event_ring.h). On the writer thread.
#pragma once

#include <cstdint>

#include "agent/calls/node_search.h"
#include "agent/signal_safe/event_ring.h"
#include "agent/signal_safe/probe_memory.h"

namespace jtrace::calls {

// The ring that is read; null: the thread has none (yet).
signal_safe::EventRing* RingToRead(const signal_safe::ThreadState& state);
// Whether the thread has moved to another ring, so that this one has all records that it will ever
// have.
inline bool HasLeft(const signal_safe::ThreadState& state, const signal_safe::EventRing& ring) {
  return signal_safe::ReadAcquire(state.log_ring) != reinterpret_cast<uintptr_t>(&ring);
}
// The position of the thread's next record in the ring, unless HasLeft; it may move on meanwhile.
uint64_t NextRecord(const signal_safe::ThreadState& state, const signal_safe::EventRing& ring);

// The ring after one that the thread has left and that is read to its end, whose memory is returned
// to the probes.
signal_safe::EventRing& NextRing(signal_safe::Arena* arena, signal_safe::ThreadState& state,
                                 signal_safe::EventRing& ring);
// Releases all rings of a thread that has ended; it has no log any more.
void FreeRings(signal_safe::Arena* arena, signal_safe::ThreadState& state);

// The position of a reader of a thread's log: the node that it has reached, record by record.

// The thread itself has moved on meanwhile, as far as its ring reaches. Follows records as readers
// of the trace do, in the thread's tree, which has a node for every call before it has a record. On
// the writer thread; the tree may grow at the same time.
class LogReaderPosition {
 public:
  LogReaderPosition(const signal_safe::Arena* arena, signal_safe::Ref at)
      : arena_(arena), at_(at) {}

  signal_safe::Ref at() const { return at_; }
  // Whether it is at a node of the tree. A reader whose records do not fit the tree is at
  // Arena::lost_node, which has no children, until it gets a position.
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
  // The caller of the routine's innermost open activation; if there is none the exit means nothing.
  signal_safe::Ref Caller(uint32_t routine) const;

  const signal_safe::Arena* arena_;
  signal_safe::Ref at_;
};

}  // namespace jtrace::calls
