#include <errno.h>

#include "agent/signal_safe/machine_context.h"
#include "agent/signal_safe/safe_read.h"

namespace jtrace::signal_safe {
namespace {

constexpr uintptr_t kInstructionBytes = 4;

bool IsSyscallInstruction(uintptr_t address) {
  constexpr uint32_t kSvc0 = 0xd4000001;
  uint32_t instruction;
  return SafeRead(address, &instruction) && instruction == kSvc0;
}

}  // namespace

uintptr_t InterruptedPc(const ucontext_t& context) { return context.uc_mcontext.pc; }

uintptr_t InterruptedSp(const ucontext_t& context) { return context.uc_mcontext.sp; }

void ContinueAt(ucontext_t& context, uintptr_t pc) { context.uc_mcontext.pc = pc; }

// As on x86-64 (machine_context_x86_64.cc), with svc #0 for syscall.
bool InterruptedCall(const ucontext_t& context) {
  const uintptr_t pc = InterruptedPc(context);
  const bool failed = static_cast<int64_t>(context.uc_mcontext.regs[0]) == -EINTR;
  return IsSyscallInstruction(failed ? pc - kInstructionBytes : pc);
}

}  // namespace jtrace::signal_safe
