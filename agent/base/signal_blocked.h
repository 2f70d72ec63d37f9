// For code that a signal's handler must not interrupt.
#pragma once

#include <pthread.h>
#include <signal.h>

namespace jtrace {

// The calling thread gets this signal only after its life. Async-signal-safe.
class SignalBlocked {
 public:
  explicit SignalBlocked(int signal) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, signal);
    pthread_sigmask(SIG_BLOCK, &set, &before_);
  }
  ~SignalBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalBlocked(const SignalBlocked&) = delete;
  SignalBlocked& operator=(const SignalBlocked&) = delete;

 private:
  sigset_t before_;
};

}  // namespace jtrace
