// Whose totals are asked for. Any thread, no handler.
#pragma once

#include <cstdint>

namespace jtrace::abi {

// Whose totals: JTRACE_OF_..., and the thread's number.
struct Subject {
  uint32_t of = 0;
  uint64_t thread = 0;
};

// Replaces "the own thread" by its number, so that the subject stays the same forever. Also
// registers it. Returns an error code.
int32_t Resolve(Subject& subject);
// Java's number of the thread that a resolved subject names. JTRACE_E_THREAD: not a Java thread.
int32_t JavaTidOf(const Subject& subject, uint64_t& java_tid);

}  // namespace jtrace::abi
