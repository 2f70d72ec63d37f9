// Handles a signal of ours in the signal handler.
#pragma once

#include <ucontext.h>

#include <cstddef>
#include <cstdint>

#include "agent/samples/handler/sample_handler.h"
#include "agent/samples/handler/thread_slot.h"

namespace jtrace::samples {

// Takes a sample of the calling thread, which was interrupted at `context`, and restarts its timer.
// Drops and counts it if `slot` is null or not this thread's, if it interrupts another sample, or
// if its weight is 0. weight: ticks; timer=wall: those in the slot count instead. room: bytes of
// stack (AlternateStack): with too few of them it does less, and counts that.
void TakeTimerSample(const SamplerState& state, ThreadSlot* slot, uint32_t weight,
                     const ucontext_t* context, size_t room);

// A perf event stands still while its signal is handled and continues from here, so that the
// handler's own time is never sampled and no interval, however short, can starve the program.
void Rearm(const ThreadSlot& slot);

}  // namespace jtrace::samples
