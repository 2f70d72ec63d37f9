#include <errno.h>

#include "agent/signal_safe/machine_context.h"
#include "agent/signal_safe/safe_read.h"

namespace jtrace::signal_safe {
namespace {

// The two bytes at `address`, which the thread has executed or is about to.
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

// A handler with SA_RESTART finds a call that can be restarted at its instruction, to be executed
// again, and any other after it with EINTR. A call that had its result was left to return it.
bool InterruptedCall(const ucontext_t& context) {
  const uintptr_t pc = InterruptedPc(context);
  constexpr uintptr_t kSyscallLength = 2;
  const bool failed = context.uc_mcontext.gregs[REG_RAX] == -EINTR;
  return IsSyscallInstruction(failed ? pc - kSyscallLength : pc);
}

}  // namespace jtrace::signal_safe
