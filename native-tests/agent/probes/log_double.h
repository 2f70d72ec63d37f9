// Writes a thread's log as JTraceLog.java does, in C++: for tests of its readers.
#pragma once

#include <atomic>
#include <cstdint>

#include "agent/hot/event_ring.h"
#include "agent/hot/layout.h"

namespace jtrace::testing {

// `Word` is uint32_t or uint64_t: records without or with their own time. Rings have chunks of the
// arena, of which they use as much as the test wants.
template <typename Word>
class LogDouble {
 public:
  LogDouble(hot::Arena* arena, hot::ThreadState* state, uint64_t records = 64,
            uint64_t start_ticks = 0)
      : arena_(arena), state_(state), start_ticks_(start_ticks) {
    Grow(records);
  }
  LogDouble(const LogDouble&) = delete;
  LogDouble& operator=(const LogDouble&) = delete;

  hot::EventRing& ring() { return *reinterpret_cast<hot::EventRing*>(state_->log_ring); }
  bool HasRoom() {
    return ring().lap + (state_->log_next - data()) - hot::ReadAcquire(ring().tail) < ring().bytes;
  }
  // Continues in a ring for so many records. `cut`: a StackOverflowError occurs before the last
  // store.
  void Grow(uint64_t records, bool cut = false) {
    uint32_t size_class = hot::kFirstRingClass;
    const uint64_t bytes = sizeof(hot::Chunk) + sizeof(hot::EventRing) + records * sizeof(Word);
    while (hot::ChunkBytes(size_class) < bytes) ++size_class;
    hot::Chunk* chunk = NewChunk(size_class);
    auto* ring = reinterpret_cast<hot::EventRing*>(chunk + 1);
    ring->bytes = records * sizeof(Word);
    ring->record_bytes = sizeof(Word);
    ring->start_ticks = start_ticks_;
    ring->previous = state_->log_ring;
    const uint64_t address = reinterpret_cast<uintptr_t>(ring);
    if (state_->log_ring == 0) state_->log_read = address;
    hot::WriteRelease(state_->log_ring, address);
    if (!cut) hot::WriteRelease(state_->log_next, address + sizeof(hot::EventRing));
  }

  void Enter(uint32_t routine, uint64_t time = 0) { Put(routine << 2, time); }
  void Exit(uint32_t routine, uint64_t time = 0) { Put(routine << 2 | 2, time); }
  // A record that was announced and never written.
  void Hole() { Advance(); }
  void Mark(hot::LogKind kind, uint64_t value) {
    if (sizeof(Word) == 8) return Put(static_cast<uint32_t>(kind), value);
    if (kind == hot::LogKind::kAt) return Write(static_cast<Word>(hot::kAtBit | value));
    Write(static_cast<Word>(static_cast<uint64_t>(kind) << hot::kOpBits | value));
  }

 private:
  uint64_t data() { return state_->log_ring + sizeof(hot::EventRing); }

  hot::Chunk* NewChunk(uint32_t size_class) {
    const uint64_t bytes = hot::ChunkBytes(size_class);
    std::atomic_ref<uint64_t>(arena_->log_small).fetch_add(bytes);
    auto* chunk =
        reinterpret_cast<hot::Chunk*>(reinterpret_cast<uintptr_t>(arena_) +
                                      std::atomic_ref<uint64_t>(arena_->next).fetch_add(bytes));
    chunk->size_class = size_class;
    return chunk;
  }

  void Put(uint32_t op, uint64_t time) {
    Write(sizeof(Word) == 8 ? static_cast<Word>(time << hot::kOpBits | op) : static_cast<Word>(op));
  }
  void Write(Word word) { hot::WriteRelease(*reinterpret_cast<Word*>(Advance()), word); }

  uint64_t Advance() {
    if (state_->log_next == data() + ring().bytes) {
      hot::WriteRelaxed(state_->log_next, data());
      hot::WriteRelaxed(ring().lap, ring().lap + ring().bytes);
    }
    const uint64_t at = state_->log_next;
    hot::WriteRelaxed(state_->log_next, at + sizeof(Word));
    return at;
  }

  hot::Arena* arena_;
  hot::ThreadState* state_;
  uint64_t start_ticks_;
};

}  // namespace jtrace::testing
