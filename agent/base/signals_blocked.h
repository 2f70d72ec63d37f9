// For the agent's own threads: no signal of the program may be delivered to them.
#pragma once

#include <pthread.h>
#include <signal.h>

namespace jtrace {

// Blocks every signal except those that report a fault of the thread itself, and restores the
// caller's mask when it is destroyed: a thread inherits the mask it is created under.
class AllSignalsBlocked {
 public:
  AllSignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP}) sigdelset(&all, fault);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~AllSignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  AllSignalsBlocked(const AllSignalsBlocked&) = delete;
  AllSignalsBlocked& operator=(const AllSignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

// For code that a signal's handler must not interrupt.

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
