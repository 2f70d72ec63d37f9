// The handler's own counters, as the session reads them.
#ifndef JTRACE_AGENT_SAMPLING_SAMPLE_TOTALS_H_
#define JTRACE_AGENT_SAMPLING_SAMPLE_TOTALS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace jtrace::sampling {

// Samples lost or cut short, by reason; running totals.
struct SampleLoss {
  std::string name;  // "sample.ring_full", "walk.compiled_caller"
  uint64_t count;
};

// Cost of the handler in nanoseconds; zeros unless it was measured.
struct HandlerCost {
  uint64_t samples = 0;
  uint64_t average_ns = 0;
  uint64_t p50_ns = 0;
  uint64_t p99_ns = 0;
};

// Of the process, all recordings together; zeros included, always in the same order. Any thread.
std::vector<SampleLoss> HandlerLosses();
HandlerCost MeasuredHandlerCost();

}  // namespace jtrace::sampling

#endif  // JTRACE_AGENT_SAMPLING_SAMPLE_TOTALS_H_
