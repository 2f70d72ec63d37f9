#include "agent/probes/ring_chain.h"

#include <atomic>

#include "agent/probes/memory_recyclers.h"

namespace jtrace {

using hot::EventRing;
using hot::ThreadState;

namespace {

EventRing* RingAt(uint64_t address) { return reinterpret_cast<EventRing*>(address); }

void FreeRing(hot::Arena* arena, EventRing& ring) {
  auto& chunk = *(reinterpret_cast<hot::Chunk*>(&ring) - 1);
  const uint32_t size_class = chunk.size_class;
  FreeChunk(arena, chunk);
  if (size_class == hot::kLastRingClass) return;  // nothing but rings uses such chunks
  std::atomic_ref<uint64_t>(arena->log_small).fetch_sub(hot::ChunkBytes(size_class));
}

}  // namespace

EventRing* RingToRead(const ThreadState& state) {
  return hot::ReadAcquire(state.log_ring) == 0 ? nullptr : RingAt(hot::ReadRelaxed(state.log_read));
}

uint64_t NextRecord(const ThreadState& state, const EventRing& ring) {
  const uint64_t data = reinterpret_cast<uintptr_t>(&ring + 1);
  const uint64_t in_lap = hot::ReadAcquire(state.log_next) - data;
  // The thread is about to set it, after a change of rings.
  if (in_lap > ring.bytes) return 0;
  return hot::ReadAcquire(ring.lap) + in_lap;
}

EventRing& NextRing(hot::Arena* arena, ThreadState& state, EventRing& ring) {
  EventRing* next = RingAt(hot::ReadAcquire(state.log_ring));
  while (RingAt(next->previous) != &ring) next = RingAt(next->previous);
  next->previous = 0;
  hot::WriteRelaxed(state.log_read, static_cast<uint64_t>(reinterpret_cast<uintptr_t>(next)));
  FreeRing(arena, ring);
  return *next;
}

void FreeRings(hot::Arena* arena, ThreadState& state) {
  hot::WriteRelaxed(state.log_limit, uint64_t{0});
  EventRing* ring = RingAt(hot::ReadAcquire(state.log_ring));
  hot::WriteRelaxed(state.log_ring, uint64_t{0});
  while (ring != nullptr) {
    EventRing* previous = RingAt(ring->previous);
    FreeRing(arena, *ring);
    ring = previous;
  }
}

}  // namespace jtrace
