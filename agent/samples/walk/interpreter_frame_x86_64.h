// The layout of an interpreter frame.
#pragma once

#include <cstdint>

namespace jtrace::samples {

// In bytes from rbp. The caller's rsp is kept separately because the callee extends the caller's
// expression stack by its locals.
inline constexpr intptr_t kInterpreterReturnAddress = 8;
inline constexpr intptr_t kInterpreterSenderSp = -8;
inline constexpr intptr_t kInterpreterMethod = -24;
inline constexpr intptr_t kInterpreterBytecodePointer = -64;

}  // namespace jtrace::samples
