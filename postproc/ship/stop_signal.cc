#include "postproc/ship/stop_signal.h"

#include <algorithm>

namespace jtrace::ship {

StopSignal::StopSignal() {
  sigemptyset(&waited_);
  for (const int each : {SIGTERM, SIGINT, SIGCHLD}) sigaddset(&waited_, each);
  sigprocmask(SIG_BLOCK, &waited_, &before_);
  struct sigaction ignore = {};
  ignore.sa_handler = SIG_IGN;  // NOLINT(cppcoreguidelines-pro-type-union-access)
  sigaction(SIGPIPE, &ignore, &pipe_before_);
  // Inherited as ignored, ended children would leave nothing to wait for.
  struct sigaction usual = {};
  usual.sa_handler = SIG_DFL;  // NOLINT(cppcoreguidelines-pro-type-union-access)
  sigaction(SIGCHLD, &usual, &child_before_);
}

StopSignal::~StopSignal() {
  Wait(absl::ZeroDuration());  // one that is pending would end the process now
  sigaction(SIGPIPE, &pipe_before_, nullptr);
  sigaction(SIGCHLD, &child_before_, nullptr);
  sigprocmask(SIG_SETMASK, &before_, nullptr);
}

bool StopSignal::requested() {
  if (!requested_) {
    sigset_t pending;
    sigpending(&pending);
    requested_ = sigismember(&pending, SIGTERM) == 1 || sigismember(&pending, SIGINT) == 1;
  }
  return requested_;
}

void StopSignal::Wait(absl::Duration longest) {
  if (requested()) longest = absl::ZeroDuration();
  const timespec timeout = absl::ToTimespec(std::max(longest, absl::ZeroDuration()));
  const int arrived = sigtimedwait(&waited_, nullptr, &timeout);
  requested_ = requested_ || arrived == SIGTERM || arrived == SIGINT;
}

}  // namespace jtrace::ship
