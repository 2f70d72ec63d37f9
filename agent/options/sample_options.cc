#include "agent/options/sample_options.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/nearest.h"

namespace jtrace {
namespace {

constexpr absl::string_view kPerfPrefix = "perf:";
// The default of timer=wall. It is longer than others because each tick checks every thread.
constexpr absl::Duration kWallInterval = absl::Milliseconds(10);

// Error messages contain these values as text.
static_assert(samples::kMinInterval == absl::Microseconds(20));
static_assert(samples::kMinWallInterval == absl::Milliseconds(1));

absl::string_view NameOf(const PerfEvent& event) { return {event.name.data(), event.name.size()}; }

bool CountsEvents(const SampleOptions& options) {
  return options.event != nullptr && !options.event->is_clock;
}

absl::Duration DefaultInterval(const SampleOptions& options) {
  return options.timer == Timer::kWall ? kWallInterval : SampleOptions().interval;
}

// Suggestions for an unknown event: the nearest name, or the available ones.
std::string OtherEvents(absl::string_view name) {
  const absl::string_view nearest = Nearest(name, PerfEvents(), NameOf);
  if (!name.empty() && EditDistance(name, nearest) <= nearest.size() / 4) {
    return absl::StrCat("did you mean perf:", nearest, "?");
  }
  return absl::StrCat("available here: ", AvailablePerfEvents());
}

absl::Status FinishPeriod(absl::string_view text, SampleOptions& options) {
  const PerfEvent& event = *options.event;
  options.period = event.default_period;
  if (text.empty()) return absl::OkStatus();
  if (!absl::SimpleAtoi(text, &options.period)) {
    return absl::InvalidArgumentError(absl::StrCat("perf:", NameOf(event),
                                                   " counts events: a number such as ",
                                                   event.default_period, ", not '", text, "'"));
  }
  constexpr uint64_t kMax = uint64_t{1} << 40;
  if (options.period < event.min_period || options.period > kMax) {
    return absl::InvalidArgumentError(absl::StrCat("'", text, "' is outside ", event.min_period,
                                                   " to ", kMax, " for perf:", NameOf(event)));
  }
  return absl::OkStatus();
}

absl::Status FinishTime(absl::string_view text, SampleOptions& options) {
  int64_t plain = 0;
  if (absl::SimpleAtoi(text, &plain)) {
    options.interval = absl::Nanoseconds(plain);  // bare numbers are ns, as in other profilers
  } else if (!absl::ParseDuration(text, &options.interval)) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", text, "' is not a duration such as 1ms or 100us"));
  }
  const bool is_short = options.interval < samples::kMinInterval;
  // A bare number that short is meant in another unit.
  if (is_short && absl::SimpleAtoi(text, &plain) && plain > 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", text, "': the unit is missing, ", text, plain <= 1000 ? "ms?" : "us?"));
  }
  if (is_short || options.interval > absl::Seconds(10)) {
    return absl::InvalidArgumentError(absl::StrCat("'", text, "' is outside 20us to 10s"));
  }
  if (options.timer == Timer::kWall && options.interval < samples::kMinWallInterval) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", text, "' is below the minimum of timer=wall, 1ms"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ParseTimer(absl::string_view value, SampleOptions& options) {
  options.event = nullptr;
  if (value == "cpu" || value == "wall") {
    options.timer = value == "cpu" ? Timer::kCpu : Timer::kWall;
    return absl::OkStatus();
  }
  if (!absl::ConsumePrefix(&value, kPerfPrefix)) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", value, "' is not one of cpu|wall|perf:EVENT; did you mean ",
                     Nearest(value, std::vector<absl::string_view>{"cpu", "wall", "perf:cpu-clock"},
                             [](absl::string_view name) { return name; }),
                     "?"));
  }
  options.timer = Timer::kPerfEvent;
  options.event = FindPerfEvent({value.data(), value.size()});
  if (options.event != nullptr) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("there is no event '", value, "'; ", OtherEvents(value)));
}

absl::Status FinishInterval(SampleOptions& options) {
  const std::string text = std::exchange(options.interval_text, "");
  options.period = 0;
  if (CountsEvents(options)) return FinishPeriod(text, options);
  if (!text.empty()) return FinishTime(text, options);
  options.interval = DefaultInterval(options);
  return absl::OkStatus();
}

bool HasDefaultInterval(const SampleOptions& options) {
  return CountsEvents(options) ? options.period == options.event->default_period
                               : options.interval == DefaultInterval(options);
}

absl::Status CheckJitter(const SampleOptions& options) {
  if (options.jitter != true || !CountsEvents(options)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "perf:", NameOf(*options.event),
      " counts events; random moments need a clock: timer=cpu, wall or perf:cpu-clock"));
}

std::string TimerName(const SampleOptions& options) {
  switch (options.timer) {
    case Timer::kCpu:
      return "cpu";
    case Timer::kWall:
      return "wall";
    case Timer::kPerfEvent:
      return absl::StrCat(kPerfPrefix, NameOf(*options.event));
  }
  return "?";
}

std::string IntervalText(const SampleOptions& options) {
  return options.period != 0 ? absl::StrCat(options.period)
                             : absl::FormatDuration(options.interval);
}

std::string SampleOptionsHelp() {
  std::string clocks, counts;
  for (const PerfEvent& event : PerfEvents()) {
    absl::StrAppend(event.is_clock ? &clocks : &counts, " ", NameOf(event));
  }
  // As many per line as fit.
  std::string lines;
  size_t column = 0;
  for (absl::string_view name : absl::StrSplit(absl::StripLeadingAsciiWhitespace(counts), ' ')) {
    constexpr size_t kWidth = 90, kIndent = 8;
    if (column == 0 || column + name.size() + 1 > kWidth) {
      absl::StrAppend(&lines, lines.empty() ? "" : "\n", std::string(kIndent, ' '));
      column = kIndent;
    }
    absl::StrAppend(&lines, column == kIndent ? "" : " ", name);
    column += name.size() + 1;
  }
  return absl::StrCat(
      "stack=full      every frame: kernel, native code, the JVM, Java\n"
      "      app       frames of Java methods in scope (include=, exclude=) only\n"
      "      frame     the topmost frame of the whole stack\n"
      "      appframe  the topmost frame of a Java method in scope\n"
      "      pc        only the program counter; least cost: "
      "mode=samples,stack=pc,interval=100us\n"
      "timer=cpu       CPU time of each thread\n"
      "      wall      real time, waiting included, with the thread's state: timer=wall,"
      "threads=main\n"
      "      perf:",
      absl::StripLeadingAsciiWhitespace(clocks),
      "  CPU time, with kernel frames: timer=perf:cpu-clock\n"
      "      perf:EVENT, interval= counts events: timer=perf:page-faults,interval=1\n",
      lines, "\n");
}

}  // namespace jtrace
