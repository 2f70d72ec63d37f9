// clock=cpu: how the probes detect that a thread was off its processor (rseq(2)).
#pragma once

#include <cstdint>

#include "agent/signal_safe/probe_clock.h"

namespace jtrace::calls {

// Returns the calling thread's rseq_cs word; null if the C library registered none (before glibc
// 2.35, or switched off by glibc.pthread.rseq=0).
uint64_t* CurrentRseqWord();

// Fills in the descriptor, which has its own address and must not move.
void InitializeRseqDescriptor(signal_safe::RseqDescriptor& descriptor);

// Whether this kernel clears the word when a thread sleeps. Kernels differ in how eager they are,
// so the calling thread tries it: it sleeps for 1 to 255 ms.
bool RseqShowsSwitches(const signal_safe::RseqDescriptor& descriptor);

}  // namespace jtrace::calls
