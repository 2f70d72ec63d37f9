#include "agent/calls/trees/log_rings.h"

#include <atomic>

#include "agent/calls/trees/memory_recyclers.h"

namespace jtrace::calls {

using signal_safe::LogRing;
using signal_safe::ThreadState;

namespace {

LogRing* RingAt(uint64_t address) { return reinterpret_cast<LogRing*>(address); }

void FreeRing(signal_safe::Arena* arena, LogRing& ring) {
  auto& chunk = *(reinterpret_cast<signal_safe::Chunk*>(&ring) - 1);
  const uint32_t size_class = chunk.size_class;
  FreeChunk(arena, chunk);
  if (size_class == signal_safe::kLastRingClass) return;  // nothing but rings uses such chunks
  std::atomic_ref<uint64_t>(arena->log_small).fetch_sub(signal_safe::ChunkBytes(size_class));
}

}  // namespace

LogRing* RingToRead(const ThreadState& state) {
  return signal_safe::ReadAcquire(state.log_ring) == 0
             ? nullptr
             : RingAt(signal_safe::ReadRelaxed(state.log_read));
}

uint64_t NextRecord(const ThreadState& state, const LogRing& ring) {
  const uint64_t data = reinterpret_cast<uintptr_t>(&ring + 1);
  const uint64_t in_lap = signal_safe::ReadAcquire(state.log_next) - data;
  // log_next is still in another ring: the thread is about to set it.
  if (in_lap > ring.bytes) return 0;
  return signal_safe::ReadAcquire(ring.lap) + in_lap;
}

LogRing& NextRing(signal_safe::Arena* arena, ThreadState& state, LogRing& ring) {
  LogRing* next = RingAt(signal_safe::ReadAcquire(state.log_ring));
  while (RingAt(next->previous) != &ring) next = RingAt(next->previous);
  next->previous = 0;
  signal_safe::WriteRelaxed(state.log_read,
                            static_cast<uint64_t>(reinterpret_cast<uintptr_t>(next)));
  FreeRing(arena, ring);
  return *next;
}

void FreeRings(signal_safe::Arena* arena, ThreadState& state) {
  signal_safe::WriteRelaxed(state.log_limit, uint64_t{0});
  LogRing* ring = RingAt(signal_safe::ReadAcquire(state.log_ring));
  signal_safe::WriteRelaxed(state.log_ring, uint64_t{0});
  while (ring != nullptr) {
    LogRing* previous = RingAt(ring->previous);
    FreeRing(arena, *ring);
    ring = previous;
  }
}

}  // namespace jtrace::calls
