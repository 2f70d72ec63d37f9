// The thread, or the process, that a C function is asked about. Any thread, no signal handler.
#pragma once

#include <cstdint>

namespace jtrace::abi {

// Whose totals: JTRACE_OF_..., and the thread's number.
struct Subject {
  uint32_t of = 0;
  uint64_t thread = 0;
};

// Replaces JTRACE_OF_OWN_THREAD by the calling thread's id, so that the subject means the same on
// every thread, and registers that thread. Returns JTRACE_OK or an error code.
int32_t Resolve(Subject& subject);
// Stores the Thread.threadId() of a resolved subject. JTRACE_E_THREAD: it is not a Java thread.
int32_t JavaTidOf(const Subject& subject, uint64_t& java_tid);

}  // namespace jtrace::abi
