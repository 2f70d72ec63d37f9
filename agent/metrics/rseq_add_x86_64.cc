#include "agent/metrics/rseq_add.h"
#include "agent/signal_safe/rseq_area.h"

namespace jtrace::metrics {

void* RseqArea() { return signal_safe::RseqArea(); }

// The sequence is from label 1 to label 2; its last instruction commits. If the kernel interrupts a
// thread inside it, it moves the thread to label 4, which must follow RSEQ_SIG, and clears rseq_cs.
bool RseqAdd(void* rseq_area, char* slots, size_t stride, uint32_t cpus, int64_t delta) {
  static_assert(signal_safe::kRseqSignature == 0x53053053);
  auto* area = static_cast<struct rseq*>(rseq_area);
  asm volatile goto(
      ".pushsection .data.rel.ro.jtrace_rseq, \"aw\"\n"
      ".balign 32\n"
      "3: .long 0, 0\n"
      ".quad 1f, 2f - 1f, 4f\n"
      ".popsection\n"
      "leaq 3b(%%rip), %%rax\n"
      "movq %%rax, %[word]\n"
      "1:\n"
      "movl %[cpu], %%eax\n"
      "cmpl %[cpus], %%eax\n"
      "jae %l[refused]\n"
      "imulq %[stride], %%rax\n"
      "addq %[delta], (%[slots], %%rax)\n"
      "2:\n"
      ".pushsection .text.jtrace_rseq_abort, \"ax\"\n"
      ".byte 0x0f, 0xb9, 0x3d\n"  // ud1: a signature that is never executed
      ".long 0x53053053\n"
      "4: jmp %l[refused]\n"
      ".popsection\n"
      :
      : [word] "m"(area->rseq_cs), [cpu] "m"(area->cpu_id), [cpus] "r"(cpus), [stride] "r"(stride),
        [delta] "r"(delta), [slots] "r"(slots)
      : "rax", "memory", "cc"
      : refused);
  *const_cast<volatile __u64*>(reinterpret_cast<__u64*>(&area->rseq_cs)) = 0;
  return true;
refused:
  *const_cast<volatile __u64*>(reinterpret_cast<__u64*>(&area->rseq_cs)) = 0;
  return false;
}

}  // namespace jtrace::metrics
