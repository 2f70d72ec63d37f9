// Samples on real time (timer=wall): which threads get a signal at a tick.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "agent/samples/handler/thread_slot.h"

namespace jtrace::samples {

// Assigns each tick of a thread to one of its samples. If the thread used CPU time since the last
// check, it gets a signal, and the ticks belong to the sample that it takes then. If not, it has
// not moved: the ticks belong to its last sample, and its system calls are not interrupted.
//
// The signal itself takes CPU time. So a thread that waited at its last sample and used almost no
// CPU time since gets one more signal, to see whether it has moved on, and then none. If it moved
// on right after that signal, its last sample is wrong. So it gets further signals after 16, 1,024
// and 65,536 ticks without CPU time.
//
// A thread that has not run is checked after an eighth of the time that it has stood still, at the
// latest after 16 ticks. With many threads this limit grows, so that there is at most one check in
// 32 us. The thread's CPU time then shows in how many of the ticks it ran. Not thread-safe, except
// the slots' content.
class WallClock {
 public:
  WallClock(absl::Duration interval, int signal);
  // Returns the errno with which the kernel (a seccomp profile) forbids signals to others, or 0.
  int SignalError() const;

  // Assigns the ticks since the last call. `slot` is the index-th and attached, its thread alive.
  // now_ns: CLOCK_MONOTONIC.
  void AddTicks(ThreadSlot& slot, uint32_t index, uint32_t ticks, uint64_t now_ns);
  // The slot's thread, or the recording, ends: assigns its last ticks without a signal.
  void Finish(ThreadSlot& slot, uint32_t index, uint64_t now_ns);

 private:
  struct WallThread {
    pid_t tid = 0;
    uint32_t ticks = 0;       // not checked yet
    uint32_t pause = 0;       // ticks between two checks
    uint32_t idle = 0;        // ticks without CPU time in a row
    uint32_t short_runs = 0;  // checks in a row that found almost no CPU time
    uint32_t confirm_at = 0;  // the value of `idle` at the next signal; 0: no signal is needed
    bool confirming = false;  // that signal was sent at the last check
    bool sampled = false;
    uint64_t cpu_ns = 0;
  };
  // How many of `ticks` belong to the next sample; the others are idle.
  uint32_t BusyTicks(WallThread& state, const ThreadSlot& slot, uint64_t cpu_ns,
                     uint32_t ticks) const;
  // Whether only our signal moved the thread, which waited and has used almost no CPU time since.
  static bool MovedBySignal(WallThread& state);
  // Assigns the ticks that have passed. Whether a signal is due.
  bool AssignTicks(WallThread& state, ThreadSlot& slot, uint64_t now_ns) const;
  // The most ticks between two checks of a thread.
  uint32_t LongestPause() const;
  void Signal(ThreadSlot& slot) const;
  // Returns errno, or 0.
  int Send(pid_t tid, int signal, ThreadSlot* slot) const;

  const uint64_t interval_ns_;
  const uint64_t small_move_ns_;
  const int signal_;
  const pid_t process_;
  std::vector<WallThread> states_;  // by slot
};

}  // namespace jtrace::samples
