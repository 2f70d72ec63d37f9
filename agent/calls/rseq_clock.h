// clock=cpu: detects that a thread was off its processor (rseq(2)).
#pragma once

#include <cstdint>

#include "agent/signal_safe/probe_memory.h"

namespace jtrace::calls {

// The calling thread's rseq_cs word; null if the C library registered none (before glibc 2.35, or
// switched off by glibc.pthread.rseq=0).
uint64_t* CurrentRseqWord();

// Fills in the descriptor, where it stays.
void InitializeRseqDescriptor(signal_safe::RseqDescriptor& descriptor);

// Whether this kernel clears the word when a thread sleeps: tries it on the calling thread, which
// sleeps for a moment. Kernels differ in how eager they are, so this is tested, not assumed.
bool RseqShowsSwitches(const signal_safe::RseqDescriptor& descriptor);

}  // namespace jtrace::calls
