#include <ucontext.h>

#include "agent/hot/memory/guarded_load.h"
#include "agent/hot/memory/safe_read.h"

namespace jtrace::hot {

// With 48 bits of address, the most that the kernel gives a program that does not ask for more.
constinit const uintptr_t kEndOfUserSpace = uintptr_t{1} << 48;

// One instruction may fault; RecoverSafeRead continues after it.
asm(R"(
  .pushsection .text
  .globl jtrace_guarded_load
  .hidden jtrace_guarded_load
  .type jtrace_guarded_load, %function
jtrace_guarded_load:
  .cfi_startproc
jtrace_guarded_load_fault:
  ldr x0, [x0]
  ret
jtrace_guarded_load_failed:
  mov x0, x1
  ret
  .cfi_endproc
  .size jtrace_guarded_load, . - jtrace_guarded_load
  .popsection
)");
// Hidden: addressed directly. An entry of the global offset table would name the section, and the
// linker would give both the same one.
extern "C" {
[[gnu::visibility("hidden")]] extern const char jtrace_guarded_load_fault[];
[[gnu::visibility("hidden")]] extern const char jtrace_guarded_load_failed[];
}

bool RecoverSafeRead(void* ucontext) {
  auto& pc = static_cast<ucontext_t*>(ucontext)->uc_mcontext.pc;
  if (pc != reinterpret_cast<uintptr_t>(jtrace_guarded_load_fault)) return false;
  pc = reinterpret_cast<uintptr_t>(jtrace_guarded_load_failed);
  return true;
}

}  // namespace jtrace::hot
