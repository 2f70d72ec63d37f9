// Wakes one waiting thread; may be rung from signal handlers.
#pragma once

#include <atomic>
#include <cstdint>

namespace jtrace::signal_safe {

// A futex, not an eventfd: the program could close a descriptor and get its number for one of its
// own files, into which handlers would then write.
class Doorbell {
 public:
  // Wakes the waiting thread; async-signal-safe, on any thread. Only the first ring since the last
  // wait makes a system call.
  void Ring();

  // Waits for a ring, on one thread at a time. Returns at once if the bell has rung since the last
  // return, after `timeout_ns` at the latest, and seldom early without a ring. True: it rang, and
  // everything that was written before the ring is visible.
  bool Wait(uint64_t timeout_ns);

 private:
  std::atomic<uint32_t> rung_{0};
  static_assert(sizeof(rung_) == 4 && std::atomic<uint32_t>::is_always_lock_free);
};

// Wakes the thread that writes the trace. Handlers ring it when what they fill is half full.
extern constinit Doorbell writer_doorbell;

}  // namespace jtrace::signal_safe
