// Totals of any thread or of the process, for the C functions. Any thread, no handler.
#pragma once

#include <cstddef>
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
// For a resolved subject.
int32_t ReadTotals(const Subject& subject, const uint32_t* ids, size_t count, int64_t* values);
// Java's number of the thread that a resolved subject names. JTRACE_E_THREAD: not a Java thread.
int32_t JavaTidOf(const Subject& subject, uint64_t& java_tid);

}  // namespace jtrace::abi
