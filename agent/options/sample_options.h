// Options about samples: timer=, interval=, jitter=, stack=, threads=. Errors: InvalidArgument, in
// words that follow "option 'NAME': ". Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "agent/base/perf_event_table.h"
#include "agent/samples/handler/sample_record.h"
#include "agent/samples/thread_timers.h"
#include "agent/samples/walk/walker.h"

namespace jtrace {

// timer=
enum class Timer { kCpu, kWall, kPerfEvent };

struct SampleOptions {
  Timer timer = Timer::kCpu;
  const PerfEvent* event = nullptr;  // kPerfEvent only
  // As given, until FinishInterval computes the next two from it; then "".
  std::string interval_text;
  absl::Duration interval = samples::kDefaultInterval;
  // Events between two samples, if the event is not a clock; else 0.
  uint64_t period = 0;
  // Whether samples are at random moments of their intervals. nullopt: they are, unless the timer
  // is a POSIX timer, which cannot do that.
  std::optional<bool> jitter;
  samples::StackMode stack =
      samples::kWalksStacks ? samples::StackMode::kFull : samples::StackMode::kPc;
  // Patterns of the names of sampled threads; none: all are sampled.
  std::vector<std::string> threads;

  bool operator==(const SampleOptions&) const = default;
};

// Parses "cpu", "wall" or "perf:EVENT". The error for an unknown event names the nearest one.
absl::Status ParseTimer(absl::string_view value, SampleOptions& options);

// Interprets interval= for the timer. Called when all options are known.
absl::Status FinishInterval(SampleOptions& options);
// Whether the interval is the timer's default.
bool HasDefaultInterval(const SampleOptions& options);

// Checks that jitter=on has a timer that is a clock.
absl::Status CheckJitter(const SampleOptions& options);

// "cpu", "wall", "perf:page-faults".
std::string TimerName(const SampleOptions& options);
// "10ms", or a number of events: the value of interval=.
std::string IntervalText(const SampleOptions& options);
// The values of stack= and timer=, with examples; lines of at most 100 columns.
std::string SampleOptionsHelp();

}  // namespace jtrace
