// What the signal handler hands to the writer: one sample.
#ifndef JTRACE_AGENT_HOT_SAMPLE_RECORD_H_
#define JTRACE_AGENT_HOT_SAMPLE_RECORD_H_

#include <cstdint>

#include "agent/hot/walk/chain.h"

namespace jtrace::hot {

// The head of a record in a sample ring; `frame_count` Frames follow.
struct SampleHeader {
  uint64_t time_ns;        // CLOCK_MONOTONIC
  uint64_t node;           // the thread's current tree node; valid if position_known
  uint64_t java_tid;       // Thread.threadId() of the thread or the mounted virtual thread; 0: none
  uint32_t thread_number;  // as given at attach
  int32_t os_tid;
  uint32_t weight;  // timer ticks that this sample stands for, at least 1
  uint32_t frame_count;
  ChainEnd end;
  bool position_known;
  uint8_t reserved[2];
  uint32_t handler_ns;  // time in the signal handler so far, if SamplerState::measure_cost
};
static_assert(sizeof(SampleHeader) == 48);

// A sample as the writer sees it; valid only during the call that passes it.
struct SampleView {
  const SampleHeader& header;
  const Frame* frames;  // header.frame_count of them, interrupted routine first
};

}  // namespace jtrace::hot

#endif  // JTRACE_AGENT_HOT_SAMPLE_RECORD_H_
