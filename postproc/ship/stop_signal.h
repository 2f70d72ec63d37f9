// SIGTERM and SIGINT as a question that loops ask: nothing is interrupted in between. A server that
// closes its connection, SIGPIPE, is an error like others.
#pragma once

#include <signal.h>

#include "absl/time/time.h"

namespace jtrace::ship {

// Blocks these signals, and SIGCHLD, for this process and not for programs that it runs.
class StopSignal {
 public:
  StopSignal();
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  bool requested();
  // Returns earlier when a stop is requested or a child ends.
  void Wait(absl::Duration longest);

 private:
  sigset_t waited_;
  sigset_t before_;
  struct sigaction pipe_before_ = {};
  struct sigaction child_before_ = {};
  bool requested_ = false;
};

}  // namespace jtrace::ship
