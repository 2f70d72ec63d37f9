#include "agent/samples/walk/cursor.h"

namespace jtrace::samples {

void Cursor::SetInterrupted(const ucontext_t* at, StackRange stack) {
  context = at;
  interrupted = true;
  pc = signal_safe::OriginalPc(Register(REG_RIP));
  sp = Register(REG_RSP);
  fp = Register(REG_RBP);
  bx = Register(REG_RBX);
  bx_known = true;
  pc_slot = fp_slot = 0;
  stack_known = sp >= stack.low && sp < stack.high;
  stack_high = stack_known ? stack.high : sp + kMaxUnboundedStackBytes;
}

uintptr_t Cursor::Register(int index) const {
  return static_cast<uintptr_t>(context->uc_mcontext.gregs[index]);
}

uintptr_t Cursor::EncodedRegister(int number) const {
  constexpr int kIndex[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                            REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
  return Register(kIndex[number]);
}

}  // namespace jtrace::samples
