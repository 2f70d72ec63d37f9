#include <ucontext.h>

#include "agent/hot/memory/guarded_load.h"
#include "agent/hot/memory/safe_read.h"

namespace jtrace::hot {

constinit const uintptr_t kEndOfUserSpace = uintptr_t{1} << 47;

// One instruction may fault; RecoverSafeRead continues after it.
asm(R"(
  .pushsection .text
  .globl jtrace_guarded_load
  .hidden jtrace_guarded_load
  .type jtrace_guarded_load, @function
jtrace_guarded_load:
  .cfi_startproc
jtrace_guarded_load_fault:
  movq (%rdi), %rax
  ret
jtrace_guarded_load_failed:
  movq %rsi, %rax
  ret
  .cfi_endproc
  .size jtrace_guarded_load, . - jtrace_guarded_load
  .popsection
)");
extern "C" {
extern const char jtrace_guarded_load_fault[];
extern const char jtrace_guarded_load_failed[];
}

bool RecoverSafeRead(void* ucontext) {
  auto& pc = static_cast<ucontext_t*>(ucontext)->uc_mcontext.gregs[REG_RIP];
  if (pc != reinterpret_cast<greg_t>(jtrace_guarded_load_fault)) return false;
  pc = reinterpret_cast<greg_t>(jtrace_guarded_load_failed);
  return true;
}

}  // namespace jtrace::hot
