// Losses of samples: one table of their names, texts and counters.
#pragma once

#include <cstdint>
#include <vector>

#include "agent/base/losses.h"

namespace jtrace::samples {

// What is lost outside of the handler (SampleCounters has the rest), in all recordings. Not
// thread-safe.
struct SamplerCounters {
  uint64_t lost_ticks = 0;        // of samples not taken before their thread or recording ended
  uint64_t handler_replaced = 0;  // times that the program took over the samples' signal
  uint64_t no_slot = 0;           // threads: all slots are in use
  uint64_t no_slot_memory = 0;    // threads: no memory for another slot
  uint64_t no_timer = 0;          // threads whose timer was refused
  uint64_t thread_ended = 0;      // threads that ended before they got a timer
  uint64_t timer_fallback = 0;    // threads that wanted a perf event and got a POSIX timer
  uint64_t no_kernel_memory = 0;  // threads without kernel frames: the kernel gave no memory
  uint64_t signal_blocked = 0;    // silent threads (unsampled_threads.h) that block the signal,
  uint64_t timer_closed = 0;      // whose timer's descriptor the program closed,
  uint64_t timer_silent = 0;      // and others
};

// Returns the counts of the table's losses in all recordings, in the table's order. Any thread that
// may read `sampler`.
std::vector<uint64_t> SampleLossCounts(const SamplerCounters& sampler);

// Returns the losses since SampleLossCounts returned `before` (empty: since the process began),
// without those that did not occur.
std::vector<LossRow> SampleLossesSince(const std::vector<uint64_t>& before,
                                       const SamplerCounters& sampler);

}  // namespace jtrace::samples
