// Synchronous unwinds of native frames, by libunwind.
#ifndef JTRACE_AGENT_SAMPLING_SYNC_UNWIND_H_
#define JTRACE_AGENT_SAMPLING_SYNC_UNWIND_H_

#include <ucontext.h>

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"

namespace jtrace::sampling {

// The native frames from `context` outwards, the interrupted pc first, then return addresses.
// Stops at the first frame that has no unwind information (such as Java code).
//
// For instrumented unwinds and as the oracle of tests. Never in a signal handler: libunwind takes
// the loader's lock (dl_iterate_phdr) and its own, and deadlocks against dlopen.
absl::StatusOr<std::vector<uintptr_t>> UnwindNative(const ucontext_t& context, int max_frames);

}  // namespace jtrace::sampling

#endif  // JTRACE_AGENT_SAMPLING_SYNC_UNWIND_H_
