#include <errno.h>

#include "agent/signal_safe/machine_context.h"
#include "agent/signal_safe/safe_read.h"

namespace jtrace::signal_safe {
namespace {

// Whether the instruction at `address` is `syscall`.
bool IsSyscallInstruction(uintptr_t address) {
  uint8_t first, second;
  return SafeRead(address, &first) && SafeRead(address + 1, &second) && first == 0x0f &&
         second == 0x05;
}

}  // namespace

uintptr_t InterruptedPc(const ucontext_t& context) {
  return static_cast<uintptr_t>(context.uc_mcontext.gregs[REG_RIP]);
}

uintptr_t InterruptedSp(const ucontext_t& context) {
  return static_cast<uintptr_t>(context.uc_mcontext.gregs[REG_RSP]);
}

void ContinueAt(ucontext_t& context, uintptr_t pc) {
  context.uc_mcontext.gregs[REG_RIP] = static_cast<greg_t>(pc);
}

// If the interrupted call can be restarted (SA_RESTART), the kernel sets the pc back to its
// instruction; else the pc is after it and the result is EINTR. With another result it is over.
bool InterruptedCall(const ucontext_t& context) {
  const uintptr_t pc = InterruptedPc(context);
  constexpr uintptr_t kSyscallLength = 2;
  const bool failed = context.uc_mcontext.gregs[REG_RAX] == -EINTR;
  return IsSyscallInstruction(failed ? pc - kSyscallLength : pc);
}

}  // namespace jtrace::signal_safe
