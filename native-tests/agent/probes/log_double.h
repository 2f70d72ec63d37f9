// Writes a thread's log as JTraceLog.java does, in C++: for tests of what reads it.
#ifndef JTRACE_NATIVE_TESTS_AGENT_PROBES_LOG_DOUBLE_H_
#define JTRACE_NATIVE_TESTS_AGENT_PROBES_LOG_DOUBLE_H_

#include <cstdint>
#include <vector>

#include "agent/hot/event_ring.h"
#include "agent/hot/layout.h"

namespace jtrace::testing {

// `Word` is uint32_t or uint64_t: records without or with a time of their own.
template <typename Word>
class LogDouble {
 public:
  explicit LogDouble(hot::ThreadState* state, uint64_t records = 64, uint64_t start_ticks = 0)
      : state_(state), memory_(sizeof(hot::EventRing) / sizeof(uint64_t) + records) {
    ring().bytes = records * sizeof(Word);
    ring().record_bytes = sizeof(Word);
    ring().start_ticks = start_ticks;
    state->log_next = data();
    hot::WriteRelease(state->log_ring, static_cast<uint64_t>(Address()));
  }
  LogDouble(const LogDouble&) = delete;
  LogDouble& operator=(const LogDouble&) = delete;

  hot::EventRing& ring() { return *reinterpret_cast<hot::EventRing*>(memory_.data()); }
  bool HasRoom() {
    return state_->log_lap + (state_->log_next - data()) - hot::ReadAcquire(ring().tail) <
           ring().bytes;
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
  uint64_t Address() { return reinterpret_cast<uintptr_t>(memory_.data()); }
  uint64_t data() { return Address() + sizeof(hot::EventRing); }

  void Put(uint32_t op, uint64_t time) {
    Write(sizeof(Word) == 8 ? static_cast<Word>(time << hot::kOpBits | op) : static_cast<Word>(op));
  }
  void Write(Word word) { hot::WriteRelease(*reinterpret_cast<Word*>(Advance()), word); }

  uint64_t Advance() {
    if (state_->log_next == data() + ring().bytes) {
      hot::WriteRelaxed(state_->log_next, data());
      hot::WriteRelaxed(state_->log_lap, state_->log_lap + ring().bytes);
    }
    const uint64_t at = state_->log_next;
    hot::WriteRelaxed(state_->log_next, at + sizeof(Word));
    return at;
  }

  hot::ThreadState* state_;
  std::vector<uint64_t> memory_;
};

}  // namespace jtrace::testing

#endif  // JTRACE_NATIVE_TESTS_AGENT_PROBES_LOG_DOUBLE_H_
