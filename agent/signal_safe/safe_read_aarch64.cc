#include "agent/signal_safe/safe_read.h"

namespace jtrace::signal_safe {

// With 48 bits of address, the most that the kernel gives a program that does not ask for more.
constinit const uintptr_t kEndOfUserSpace = uintptr_t{1} << 48;

asm(R"(
  .pushsection .text
  .globl jtrace_guarded_load
  .hidden jtrace_guarded_load
  .globl jtrace_guarded_load_fault
  .hidden jtrace_guarded_load_fault
  .globl jtrace_guarded_load_failed
  .hidden jtrace_guarded_load_failed
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

}  // namespace jtrace::signal_safe
