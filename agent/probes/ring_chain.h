// The rings of a thread's log, from the one that is read to the one that is written
// (agent/hot/event_ring.h). On the writer thread.
#ifndef JTRACE_AGENT_PROBES_RING_CHAIN_H_
#define JTRACE_AGENT_PROBES_RING_CHAIN_H_

#include "agent/hot/event_ring.h"
#include "agent/hot/layout.h"

namespace jtrace {

// The ring that is read; null: the thread has none (yet).
hot::EventRing* RingToRead(const hot::ThreadState& state);
// Whether the thread writes to another ring by now, so that all that will ever be in this one is
// there.
inline bool HasLeft(const hot::ThreadState& state, const hot::EventRing& ring) {
  return hot::ReadAcquire(state.log_ring) != reinterpret_cast<uintptr_t>(&ring);
}
// Where the thread's next record will stand in the ring, unless HasLeft; it may go on meanwhile.
uint64_t NextRecord(const hot::ThreadState& state, const hot::EventRing& ring);

// The ring behind one that the thread has left and that is read to its end, whose memory goes back
// to the probes.
hot::EventRing& GoOn(hot::Arena* arena, hot::ThreadState& state, hot::EventRing& ring);
// Gives back all rings of a thread that is over; it has no log any more.
void FreeRings(hot::Arena* arena, hot::ThreadState& state);

}  // namespace jtrace

#endif  // JTRACE_AGENT_PROBES_RING_CHAIN_H_
