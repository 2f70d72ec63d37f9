// What a recording says about itself: how it was made, what it cost, what the planner left out.
#include "postproc/report/recording_text.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "postproc/report/units.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

// "12 entry · 14 exit": the counts whose keys begin with the prefix.
std::string ListCounts(const TraceInfo& trace, std::string_view prefix) {
  std::string list;
  for (const TraceCount& count : trace.counts) {
    if (!count.key.starts_with(prefix)) continue;
    if (!list.empty()) list += " · ";
    list += CountedText(count.value, count.key.substr(prefix.size()));
  }
  return list;
}

int64_t CountOf(const TraceInfo& trace, std::string_view key) {
  const auto found = std::find_if(trace.counts.begin(), trace.counts.end(),
                                  [&](const TraceCount& count) { return count.key == key; });
  return found == trace.counts.end() ? 0 : found->value;
}

// The work of the probe planner, and what it left out.
void WritePlanner(const TraceInfo& trace, SummaryLines& lines) {
  const std::string probes = ListCounts(trace, "planner.probe.");
  if (probes.empty()) return;
  lines.Add("probes", probes);
  if (const int64_t blocks = CountOf(trace, "planner.probe.block"); blocks > 0) {
    const int64_t counters = CountOf(trace, "planner.probe.block-counter");
    lines.Add("",
              StrCat(FormatPercent(PercentOf(counters, blocks)), " of the blocks have a counter"));
  }
  const std::string methods = ListCounts(trace, "planner.method.");
  if (!methods.empty()) lines.Add("", StrCat("methods without, or with fewer: ", methods));
  const std::string calls = ListCounts(trace, "planner.call.");
  if (!calls.empty()) lines.Add("", StrCat("calls out of scope without: ", calls));
}

// Exact totals of events whose records are limited in number.
void WriteTotals(const TraceInfo& trace, SummaryLines& lines) {
  std::vector<std::string> totals;
  for (const TraceCount& count : trace.counts) {
    if (count.value == 0 || !count.key.starts_with("total.") || count.key.ends_with(".recorded")) {
      continue;
    }
    if (count.key.ends_with(".ns")) {
      const std::string what = count.what.substr(0, count.what.find(':'));
      totals.push_back(StrCat(what, " took ", FormatNanoseconds(static_cast<double>(count.value))));
    } else {
      totals.push_back(CountedText(count.value, count.what));
    }
  }
  lines.Add("totals", totals);
}

int64_t NumberOf(const TraceInfo& trace, std::string_view key) {
  int64_t number = 0;
  return ParseInteger(trace.Fact(key), number) ? number : 0;
}

// The cost of the recording itself.
void WriteAgent(const TraceInfo& trace, SummaryLines& lines) {
  const auto fact = [&](std::string_view key) {
    const std::string_view text = trace.Fact(key);
    double value = 0;
    return absl::SimpleAtod({text.data(), text.size()}, &value) ? value : 0;
  };
  if (fact("agent_cpu_ns") == 0) return;
  std::string text = StrCat("writer ", FormatNanoseconds(fact("agent_cpu_ns")), " CPU");
  if (fact("agent_memory_bytes") > 0) {
    StrAppend(&text, absl::StrFormat(" · %.1f MB for trees", fact("agent_memory_bytes") / 1e6));
  }
  if (fact("methods_probed") > 0) {
    StrAppend(&text, " · ", Counted(static_cast<int64_t>(fact("methods_probed")), "method"),
              " with probes");
  }
  lines.Add("agent", text);
}

}  // namespace

void WriteRecording(const TraceInfo& trace, SummaryLines& lines) {
  if (!trace.Fact("jvm").empty()) {
    const std::string_view agent = trace.Fact("agent_version");
    lines.Add("jvm", agent.empty() ? std::string(trace.Fact("jvm"))
                                   : StrCat(trace.Fact("jvm"), " · jtrace ", agent));
  }
  if (!trace.Fact("mode").empty()) {
    std::string mode(trace.Fact("mode"));
    for (const std::string_view key : {"record", "clock", "timer", "stack", "jitter"}) {
      if (!trace.Fact(key).empty()) StrAppend(&mode, " · ", key, " ", trace.Fact(key));
    }
    if (trace.interval_ns > 0) {
      StrAppend(&mode, " · a tick is ", FormatNanoseconds(static_cast<double>(trace.interval_ns)));
    } else if (!trace.Fact("interval_events").empty()) {
      StrAppend(&mode, " · a tick is ", trace.Fact("interval_events"), " events");
    }
    lines.Add("mode", mode);
  }
  if (trace.running) lines.Add("state", "recording still runs: this is its data so far");
  WriteAgent(trace, lines);
  WritePlanner(trace, lines);
  WriteTotals(trace, lines);
}

// The cost of the samples' stacks.
void WriteSampling(const TraceInfo& trace, SummaryLines& lines) {
  const int64_t median = NumberOf(trace, "handler_median_ns");
  if (median == 0) return;
  std::string text = StrCat(
      "median ", FormatNanoseconds(static_cast<double>(median)), ", p99 ",
      FormatNanoseconds(static_cast<double>(NumberOf(trace, "handler_p99_ns"))), " a sample");
  if (NumberOf(trace, "sample_bytes") > 0) {
    StrAppend(&text, " · ", NumberOf(trace, "sample_bytes"), " bytes a sample on disk");
  }
  if (NumberOf(trace, "file_bytes") > 0) {
    StrAppend(&text, " · ", Counted(NumberOf(trace, "file_bytes"), "byte"), " in the file");
  }
  lines.Add("handler", text);
}

}  // namespace jtrace::postproc
