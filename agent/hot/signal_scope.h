// Opened first by every signal handler of the agent.
#pragma once

#include <errno.h>

#include "agent/hot/inflight.h"

namespace jtrace::hot {

// Keeps errno and counts the handler as in flight, on every path out of it.
class SignalScope {
 public:
  explicit SignalScope(InFlight& inflight) : inflight_(inflight), errno_(errno) {
    inflight_.Enter();
  }
  ~SignalScope() {
    inflight_.Leave();
    errno = errno_;
  }
  SignalScope(const SignalScope&) = delete;
  SignalScope& operator=(const SignalScope&) = delete;

 private:
  InFlight& inflight_;
  const int errno_;
};

}  // namespace jtrace::hot
