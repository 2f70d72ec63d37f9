// The layout of an interpreter frame.
#ifndef JTRACE_AGENT_HOT_WALK_INTERPRETER_FRAME_X86_64_H_
#define JTRACE_AGENT_HOT_WALK_INTERPRETER_FRAME_X86_64_H_

#include <cstdint>

namespace jtrace::hot {

// In bytes from rbp. The caller's rsp is kept separately because the callee extends the caller's
// expression stack by its locals.
inline constexpr intptr_t kInterpreterReturnAddress = 8;
inline constexpr intptr_t kInterpreterSenderSp = -8;
inline constexpr intptr_t kInterpreterMethod = -24;
inline constexpr intptr_t kInterpreterBytecodePointer = -64;

}  // namespace jtrace::hot

#endif  // JTRACE_AGENT_HOT_WALK_INTERPRETER_FRAME_X86_64_H_
