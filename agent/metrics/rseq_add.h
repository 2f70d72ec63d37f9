// One addition on the processor that the thread runs on, in a restartable sequence (rseq(2)).
#pragma once

#include <stddef.h>

#include <cstdint>

namespace jtrace::metrics {

// Adds `delta` to *(int64_t*)(slots + cpu * stride) for the processor that this thread runs on,
// without locked instructions. False: nothing was added, because the kernel took the thread off the
// processor or delivered a signal meanwhile, this processor's number is not below `cpus`, or the C
// library has not registered the thread.
//
// `rseq_area`: the calling thread's struct rseq. Async-signal-safe. Leaves its rseq_cs word 0:
// - Its former value is not restored: if a probe of clock=cpu had armed it, and the kernel cleared
//   it just before it was overwritten here, restoring it would hide that the thread was off its
//   processor. A cleared word makes that probe ask the kernel for the processor time, which is
//   always correct, and slower once.
// - Its own descriptor does not stay: the word would still name memory that the kernel reads at the
//   next switch (and kills the process if the memory is unmapped), for no benefit.
bool RseqAdd(void* rseq_area, char* slots, size_t stride, uint32_t cpus, int64_t delta);

// The calling thread's struct rseq; null: the C library registered none.
void* RseqArea();

}  // namespace jtrace::metrics
