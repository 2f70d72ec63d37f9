// Synchronous unwinds of native frames, by libunwind.
#pragma once

#include <ucontext.h>

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"

namespace jtrace::testing {

// The native frames from `context` outwards, the interrupted pc first, then return addresses.
// Stops at the first frame that has no unwind information (such as Java code).
//
// Only the oracle of the walker's tests, not for products: libunwind exports the names by which
// exceptions are thrown (_Unwind_Resume), and would replace those of a whole process. Never in a
// signal handler while the loader runs: libunwind takes the loader's lock (dl_iterate_phdr) and its
// own, and deadlocks against dlopen.
absl::StatusOr<std::vector<uintptr_t>> UnwindNative(const ucontext_t& context, int max_frames);

}  // namespace jtrace::testing
