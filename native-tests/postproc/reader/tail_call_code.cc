// Assembly, so that no compiler can turn its calls into jumps or the other way round. Only the
// table and the functions called through the linkage table are exported: stripped, the rest has no
// names.
#include "native-tests/postproc/reader/tail_call_code.h"

asm(R"(
  .text
  .macro function name
  .type \name, @function
\name:
  .cfi_startproc
  .endm
  .macro end name
  .cfi_endproc
  .size \name, . - \name
  .endm
  .macro outer name, call:vararg
  function \name
  sub $8, %rsp
  .cfi_adjust_cfa_offset 8
  \call
  add $8, %rsp
  .cfi_adjust_cfa_offset -8
  ret
  end \name
  .endm
  .macro jump name, to
  function \name
  jmp \to
  end \name
  .endm

  outer leaf, call *probe(%rip)
  .type alias_of_leaf, @function
  .set alias_of_leaf, leaf

  function middle
  nop
inside_middle:
  jmp leaf
  end middle

  .globl jtrace_tail_exported
  jump jtrace_tail_exported, leaf
  .globl jtrace_leaf_exported
  outer jtrace_leaf_exported, call *probe(%rip)

  outer plain_outer, call leaf
  outer outer, call middle
  outer import_outer, call jtrace_tail_exported@plt
  outer plain_import, call jtrace_leaf_exported@plt
  outer inner_outer, call inside_middle
  outer alias_outer, call alias_of_leaf

  function indirect_outer
  sub $8, %rsp
  .cfi_adjust_cfa_offset 8
  lea middle(%rip), %rax
  call *%rax
  add $8, %rsp
  .cfi_adjust_cfa_offset -8
  ret
  end indirect_outer

  function slot_outer
  push %rbp
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset rbp, 0
  xor %ebp, %ebp
  lea leaf_pointer(%rip), %rax
  sub $(middle - 1f), %rax
  call *(middle - 1f)(%rax, %rbp, 8)
1:
  pop %rbp
  .cfi_adjust_cfa_offset -8
  ret
  end slot_outer

  function recursive
  test %edi, %edi
  je leaf
  sub $8, %rsp
  .cfi_adjust_cfa_offset 8
  xor %edi, %edi
  call recursive
  add $8, %rsp
  .cfi_adjust_cfa_offset -8
  ret
  end recursive
  function call_recursive
  mov $1, %edi
  jmp recursive
  end call_recursive

  function spread
  sub $8, %rsp
  .cfi_adjust_cfa_offset 8
  jmp spread.cold
  end spread
  function spread.cold
  .cfi_adjust_cfa_offset 8
  call *probe(%rip)
  add $8, %rsp
  .cfi_adjust_cfa_offset -8
  ret
  end spread.cold
  outer cold_outer, call spread
  jump to_spread, spread
  outer cold_tail_outer, call to_spread

  outer parted.part.0, call *probe(%rip)
  jump parted, parted.part.0
  outer part_outer, call parted

  function never_runs
  call middle
  end never_runs
  function signalled
  ud2
  ret
  end signalled

  .section .data.rel.ro, "aw"
  .balign 8
leaf_pointer:
  .quad leaf
  .data
  .balign 8
  .globl jtrace_tail_call_code
  .type jtrace_tail_call_code, @object
jtrace_tail_call_code:
probe:
  .quad 0
  .quad plain_outer, outer, import_outer, plain_import, indirect_outer, slot_outer, inner_outer
  .quad alias_outer, call_recursive, cold_outer, cold_tail_outer, part_outer, signalled
  .quad middle, leaf, jtrace_tail_exported, jtrace_leaf_exported, recursive, spread, spread.cold
  .quad to_spread, parted, parted.part.0
  .size jtrace_tail_call_code, . - jtrace_tail_call_code
  .text
)");
