// Processor time of threads of this process.
#pragma once

#include <sys/types.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace jtrace {

// None: no such thread runs.
std::optional<absl::Duration> ThreadCpu(pid_t tid);

// Whether it runs or waits for a processor.
bool ThreadIsRunnable(pid_t tid);

// The thread that the kernel knows by this name (at most 15 bytes); 0: there is none. The first, if
// there are several.
pid_t FindThread(absl::string_view name);
// All threads that have one of these names.
std::vector<pid_t> FindThreads(std::span<const std::string> names);

}  // namespace jtrace
