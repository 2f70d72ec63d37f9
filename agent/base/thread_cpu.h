// Processor time, states and kernel names of threads of this process. Any thread; reads /proc.
#pragma once

#include <sys/types.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace jtrace {

// Returns the processor time of a thread since its start; none: there is no such thread.
std::optional<absl::Duration> ThreadCpu(pid_t tid);

// Returns whether the thread runs or waits for a processor.
bool ThreadIsRunnable(pid_t tid);

// Returns the first thread that the kernel knows by this name (at most 15 bytes); 0: there is
// none.
pid_t FindThread(absl::string_view name);
// Returns all threads that have one of these names.
std::vector<pid_t> FindThreads(std::span<const std::string> names);

}  // namespace jtrace
