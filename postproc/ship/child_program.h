// Runs a program to its end: its memory and its crashes are not this process's.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "postproc/ship/stop_signal.h"

namespace jtrace::ship {

struct ChildEnd {
  int exit_code = 0;   // 128 + N: signal N ended it
  std::string output;  // of stdout and stderr, the last kilobytes
};

// `command`: the program's path and its arguments. Its stdin is empty. It is killed when `stop` is
// requested (Cancelled) and after `longest` (DeadlineExceeded); when this process is killed, the
// kernel ends it. Unavailable if it cannot be started. `is_private`: the files that it makes are
// of this user alone.
absl::StatusOr<ChildEnd> RunChild(const std::vector<std::string>& command, absl::Duration longest,
                                  StopSignal& stop, bool is_private = false);

}  // namespace jtrace::ship
