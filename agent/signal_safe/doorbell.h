// Wakes one waiting thread; may be rung from signal handlers.
#pragma once

#include <atomic>
#include <cstdint>

namespace jtrace::signal_safe {

// A futex, not an eventfd: the program could close a descriptor and get its number for one of its
// own files, into which handlers would then write.
class Doorbell {
 public:
  // Any thread, handlers too: async-signal-safe, and a system call only at the first ring since the
  // last wait.
  void Ring();

  // One thread at a time. Returns when it is rung, at once if that was since the last return, and
  // after `timeout_ns` at the latest; seldom earlier. True: it rang, and everything written before
  // that is visible.
  bool Wait(uint64_t timeout_ns);

 private:
  std::atomic<uint32_t> rung_{0};
  static_assert(sizeof(rung_) == 4 && std::atomic<uint32_t>::is_always_lock_free);
};

// Wakes the thread that writes the trace. Handlers ring it when a ring is half full.
extern constinit Doorbell writer_doorbell;

}  // namespace jtrace::signal_safe
