// Block signals of the calling thread for a scope.
#pragma once

#include <pthread.h>
#include <signal.h>

namespace jtrace {

// Blocks every signal except those that report a fault of the thread itself. A thread of the agent
// is created under this mask and inherits it, so it never gets a signal of the program.
class ProgramSignalsBlocked {
 public:
  ProgramSignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP}) sigdelset(&all, fault);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~ProgramSignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  ProgramSignalsBlocked(const ProgramSignalsBlocked&) = delete;
  ProgramSignalsBlocked& operator=(const ProgramSignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

// Blocks one signal, for code that the signal's handler must not interrupt. Async-signal-safe.
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
