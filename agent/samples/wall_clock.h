// Samples on real time (timer=wall): which threads get a signal at a tick.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "agent/samples/handler/thread_slot.h"

namespace jtrace::samples {

// Assigns ticks: a thread that used the CPU since the last check gets a signal, and the ticks
// belong to its next sample. A thread that did not is where it was: the ticks belong to its last
// sample, and its system calls are not interrupted.
//
// The signal itself takes CPU time. So a thread that waited at its last sample and used almost no
// CPU time since gets one more signal, to see whether it has moved on, and then none. If it moved
// on just then, it is no longer where its last sample says: so there is another signal after 16
// ticks without any CPU time, and then after 64 times as many each time.
//
// The longer a thread has not run, the less often it is checked, up to every 16 ticks, or with
// more than 500 threads at 1 ms every 32 us a thread; at most an eighth of its rest. Then CPU time
// shows how many of the ticks it ran. Not thread-safe, except the slots' content.
class WallClock {
 public:
  WallClock(absl::Duration interval, int signal);
  // Why the kernel (a seccomp profile) forbids this thread to signal others, as errno; 0: it allows
  // it.
  int SignalError() const;

  // `slot` is the index-th and attached, its thread alive. ticks: since the last call. now: of
  // CLOCK_MONOTONIC.
  void Check(ThreadSlot& slot, uint32_t index, uint32_t ticks, uint64_t now_ns);
  // The slot's thread, or the recording, ends: its last ticks become idle ones or due ones, without
  // a signal.
  void Finish(ThreadSlot& slot, uint32_t index, uint64_t now_ns);

 private:
  struct ThreadState {
    pid_t tid = 0;
    uint32_t ticks = 0;        // not checked yet
    uint32_t pause = 0;        // ticks between two checks
    uint32_t idle = 0;         // ticks without CPU time in a row
    uint32_t small_moves = 0;  // in a row
    uint32_t confirm_at = 0;   // of `idle`: another signal is due; 0: its place is certain
    bool confirming = false;   // that signal was sent at the last check
    bool sampled = false;
    uint64_t cpu_ns = 0;
  };
  uint32_t BusyTicks(ThreadState& state, const ThreadSlot& slot, uint64_t cpu_ns,
                     uint32_t ticks) const;
  // For a thread that waited at its last sample and has used almost no CPU time since.
  static bool MovedBySignal(ThreadState& state);
  // Whether the thread ran since the last check.
  bool AssignTicks(ThreadState& state, ThreadSlot& slot, uint64_t now_ns) const;
  // Ticks between two checks at a thread that has not run for long.
  uint32_t LongestPause() const;
  void Signal(ThreadSlot& slot) const;
  // errno, or 0.
  int Send(pid_t tid, int signal, ThreadSlot* slot) const;

  const uint64_t interval_ns_;
  const uint64_t small_move_ns_;
  const int signal_;
  const pid_t process_;
  std::vector<ThreadState> states_;  // by slot
};

}  // namespace jtrace::samples
