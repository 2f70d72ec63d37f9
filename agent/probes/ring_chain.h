// The rings of a thread's log, from the one that is read to the one that is written
// (agent/hot/event_ring.h). On the writer thread.
#pragma once

#include "agent/hot/event_ring.h"
#include "agent/hot/layout.h"

namespace jtrace {

// The ring that is read; null: the thread has none (yet).
hot::EventRing* RingToRead(const hot::ThreadState& state);
// Whether the thread has moved to another ring, so that this one has all records that it will ever
// have.
inline bool HasLeft(const hot::ThreadState& state, const hot::EventRing& ring) {
  return hot::ReadAcquire(state.log_ring) != reinterpret_cast<uintptr_t>(&ring);
}
// The position of the thread's next record in the ring, unless HasLeft; it may move on meanwhile.
uint64_t NextRecord(const hot::ThreadState& state, const hot::EventRing& ring);

// The ring after one that the thread has left and that is read to its end, whose memory is returned
// to the probes.
hot::EventRing& NextRing(hot::Arena* arena, hot::ThreadState& state, hot::EventRing& ring);
// Releases all rings of a thread that has ended; it has no log any more.
void FreeRings(hot::Arena* arena, hot::ThreadState& state);

}  // namespace jtrace
