// Writes a thread's log as JTraceLog.java does, in C++: for tests of its readers.
#pragma once

#include <atomic>
#include <cstdint>

#include "agent/signal_safe/arena.h"
#include "agent/signal_safe/atomic_access.h"
#include "agent/signal_safe/log_ring.h"
#include "agent/signal_safe/thread_state.h"

namespace jtrace::testing {

// `Word` is uint32_t or uint64_t: records without or with their own time. Rings have chunks of the
// arena, of which they use as much as the test wants.
template <typename Word>
class LogDouble {
 public:
  LogDouble(signal_safe::Arena* arena, signal_safe::ThreadState* state, uint64_t records = 64,
            uint64_t start_ticks = 0)
      : arena_(arena), state_(state), start_ticks_(start_ticks) {
    Grow(records);
  }
  LogDouble(const LogDouble&) = delete;
  LogDouble& operator=(const LogDouble&) = delete;

  signal_safe::LogRing& ring() {
    return *reinterpret_cast<signal_safe::LogRing*>(state_->log_ring);
  }
  bool HasRoom() {
    return ring().lap + (state_->log_next - data()) - signal_safe::ReadAcquire(ring().tail) <
           ring().bytes;
  }
  // Continues in a ring for so many records. `cut`: a StackOverflowError occurs before the last
  // store.
  void Grow(uint64_t records, bool cut = false) {
    uint32_t size_class = signal_safe::kFirstRingClass;
    const uint64_t bytes =
        sizeof(signal_safe::Chunk) + sizeof(signal_safe::LogRing) + records * sizeof(Word);
    while (signal_safe::ChunkBytes(size_class) < bytes) ++size_class;
    signal_safe::Chunk* chunk = NewChunk(size_class);
    auto* ring = reinterpret_cast<signal_safe::LogRing*>(chunk + 1);
    ring->bytes = records * sizeof(Word);
    ring->record_bytes = sizeof(Word);
    ring->start_ticks = start_ticks_;
    ring->previous = state_->log_ring;
    const uint64_t address = reinterpret_cast<uintptr_t>(ring);
    if (state_->log_ring == 0) state_->log_read = address;
    signal_safe::WriteRelease(state_->log_ring, address);
    if (!cut) signal_safe::WriteRelease(state_->log_next, address + sizeof(signal_safe::LogRing));
  }

  void Enter(uint32_t routine, uint64_t time = 0) { Put(routine << 2, time); }
  void Exit(uint32_t routine, uint64_t time = 0) { Put(routine << 2 | 2, time); }
  // A record that was announced and never written.
  void Hole() { Advance(); }
  void Control(signal_safe::LogRecordKind kind, uint64_t value) {
    if (sizeof(Word) == 8) return Put(static_cast<uint32_t>(kind), value);
    if (kind == signal_safe::LogRecordKind::kAt) {
      return Write(static_cast<Word>(signal_safe::kAtBit | value));
    }
    Write(static_cast<Word>(static_cast<uint64_t>(kind) << signal_safe::kOpBits | value));
  }

 private:
  uint64_t data() { return state_->log_ring + sizeof(signal_safe::LogRing); }

  signal_safe::Chunk* NewChunk(uint32_t size_class) {
    const uint64_t bytes = signal_safe::ChunkBytes(size_class);
    std::atomic_ref<uint64_t>(arena_->log_small).fetch_add(bytes);
    auto* chunk = reinterpret_cast<signal_safe::Chunk*>(
        reinterpret_cast<uintptr_t>(arena_) +
        std::atomic_ref<uint64_t>(arena_->next).fetch_add(bytes));
    chunk->size_class = size_class;
    return chunk;
  }

  void Put(uint32_t op, uint64_t time) {
    Write(sizeof(Word) == 8 ? static_cast<Word>(time << signal_safe::kOpBits | op)
                            : static_cast<Word>(op));
  }
  void Write(Word word) { signal_safe::WriteRelease(*reinterpret_cast<Word*>(Advance()), word); }

  uint64_t Advance() {
    if (state_->log_next == data() + ring().bytes) {
      signal_safe::WriteRelaxed(state_->log_next, data());
      signal_safe::WriteRelaxed(ring().lap, ring().lap + ring().bytes);
    }
    const uint64_t at = state_->log_next;
    signal_safe::WriteRelaxed(state_->log_next, at + sizeof(Word));
    return at;
  }

  signal_safe::Arena* arena_;
  signal_safe::ThreadState* state_;
  uint64_t start_ticks_;
};

}  // namespace jtrace::testing
