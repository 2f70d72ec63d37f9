// The rings of a thread's log, from the one that is read to the one that is written
// (agent/signal_safe/log_ring.h). On the writer thread.
#pragma once

#include <cstdint>

#include "agent/signal_safe/arena.h"
#include "agent/signal_safe/atomic_access.h"
#include "agent/signal_safe/log_ring.h"
#include "agent/signal_safe/thread_state.h"

namespace jtrace::calls {

// Returns the ring that is read; null: the thread has none (yet).
signal_safe::LogRing* RingToRead(const signal_safe::ThreadState& state);
// Whether the thread has moved to another ring, so that this one has all records that it will ever
// have.
inline bool HasSwitchedRing(const signal_safe::ThreadState& state,
                            const signal_safe::LogRing& ring) {
  return signal_safe::ReadAcquire(state.log_ring) != reinterpret_cast<uintptr_t>(&ring);
}
// Returns the position (bytes) of the thread's next record in a ring that it has not left.
uint64_t NextRecord(const signal_safe::ThreadState& state, const signal_safe::LogRing& ring);

// Returns the ring after `ring`, which the thread has left and which is read to its end. The memory
// of `ring` is returned to the probes.
signal_safe::LogRing& NextRing(signal_safe::Arena* arena, signal_safe::ThreadState& state,
                               signal_safe::LogRing& ring);
// Releases all rings of a thread that has ended; it has no log any more.
void FreeRings(signal_safe::Arena* arena, signal_safe::ThreadState& state);

}  // namespace jtrace::calls
