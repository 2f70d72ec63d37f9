// The options of samples that are not single words: timer=, interval=, threads=.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "agent/samples/handler/sample_record.h"
#include "agent/samples/perf_events.h"
#include "agent/samples/walk/walker.h"

namespace jtrace {

// timer=
enum class Timer { kCpu, kWall, kPerf };

struct SampleOptions {
  Timer timer = Timer::kCpu;
  const samples::PerfEvent* event = nullptr;  // kPerf only
  // As given; "" if it was not given. FinishInterval computes the next two from it.
  std::string interval_text;
  absl::Duration interval = absl::Milliseconds(1);
  // Events between two samples, if the event is not a clock; else 0.
  uint64_t period = 0;
  // At random moments of the intervals; none: where the timer can.
  std::optional<bool> jitter;
  samples::StackMode stack =
      samples::kWalksStacks ? samples::StackMode::kFull : samples::StackMode::kPc;
  // Patterns of the names of sampled threads; none: all are sampled.
  std::vector<std::string> threads;
};

// "cpu", "wall", "perf:EVENT". An unknown event: the nearest one is named.
absl::Status ParseTimer(absl::string_view value, SampleOptions& options);

// Call it when all options are known: interprets interval= for the timer.
absl::Status FinishInterval(SampleOptions& options);

// Unimplemented: stacks cannot be walked on this processor, but stack= or unwind= needs it.
absl::Status CheckStackIsWalkable(const SampleOptions& options, bool unwinds);

// "cpu", "wall", "perf:page-faults".
std::string TimerName(const SampleOptions& options);
// ",timer=wall,interval=10ms"; the timer only if it is not the usual one.
std::string DescribeSampleOptions(const SampleOptions& options);
// The values of stack= and timer=, with examples; lines of at most 100 columns.
std::string SampleOptionsHelp();

}  // namespace jtrace
