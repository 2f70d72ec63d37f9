// The summary as text: what was traced, what was lost, how well samples matched.
#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "postproc/report/hook_totals.h"
#include "postproc/report/report.h"
#include "postproc/report/summary_totals.h"
#include "postproc/support/strings.h"
#include "proto/trace_format.h"

namespace jtrace::postproc {
namespace {

class SummaryWriter {
 public:
  SummaryWriter(const ReportInput& input, std::ostream& out)
      : input_(input), out_(out), totals_(SumUp(input)) {}

  void Write() {
    for (const TraceInfo& trace : input_.model.traces()) WriteTrace(trace);
    WriteWork();
    WriteHooks();
    WriteMetrics();
    WriteRecords();
    if (input_.merge.samples + input_.merge.unwinds > 0) WriteMerge();
    WriteInvariants();
    WriteLosses(AllLosses(input_));
  }
  // What a reader must know before the numbers.
  void WriteHead() {
    for (const TraceInfo& trace : input_.model.traces()) WriteProgram(trace);
    WriteWork();
    if (input_.merge.samples > 0) WriteSamples();
    std::vector<Loss> losses = AllLosses(input_);
    std::erase_if(losses, [](const Loss& loss) { return loss.severity == Severity::kInfo; });
    if (!losses.empty()) WriteLosses(losses);
  }
  void WriteDetails() {
    for (const TraceInfo& trace : input_.model.traces()) WriteRecording(trace);
    WriteHooks();
    WriteMetrics();
    WriteRecords();
    if (input_.merge.samples + input_.merge.unwinds > 0) WriteSampled();
    WriteInvariants();
    WriteLosses(AllLosses(input_));
  }

 private:
  static constexpr int kKeyWidth = 12;

  void Line(std::string_view key, std::string_view raw_value) {
    const std::string value = Printable(raw_value);
    const std::string padded =
        StrCat(key, std::string(static_cast<size_t>(kKeyWidth - DisplayWidth(key)), ' '));
    const int width = input_.options.width;
    out_ << padded << (width > 0 ? Shorten(value, std::max(width - kKeyWidth, 20)) : value) << '\n';
  }
  void WriteTrace(const TraceInfo& trace);
  void WriteProgram(const TraceInfo& trace);
  void WriteRecording(const TraceInfo& trace);
  void WriteAgent(const TraceInfo& trace);
  void WritePlanner(const TraceInfo& trace);
  void WriteWork();
  void WriteUncounted();
  void WriteOutside();
  // Pieces joined by " · ", in as many lines as they need.
  void Lines(std::string_view key, const std::vector<std::string>& pieces);
  void WriteTotals(const TraceInfo& trace);
  void WriteHooks();
  void WriteMetrics();
  void WriteRecords();
  void WriteMerge();
  void WriteSamples();
  void WriteSampled();
  void WriteStates();
  void WriteSampling(const TraceInfo& trace);
  void WriteInvariants();
  void WriteLosses(const std::vector<Loss>& losses);

  const ReportInput& input_;
  std::ostream& out_;
  const Totals totals_;
};

void SummaryWriter::WriteTrace(const TraceInfo& trace) {
  Line("trace", trace.file);
  WriteProgram(trace);
  WriteRecording(trace);
}

void SummaryWriter::WriteProgram(const TraceInfo& trace) {
  if (trace.Fact("command").empty()) return;
  const std::string_view pid = trace.Fact("pid");
  Line("program", pid.empty() ? std::string(trace.Fact("command"))
                              : StrCat(trace.Fact("command"), "  (pid ", pid, ")"));
}

void SummaryWriter::WriteRecording(const TraceInfo& trace) {
  if (!trace.Fact("jvm").empty()) {
    const std::string_view agent = trace.Fact("agent_version");
    Line("jvm", agent.empty() ? std::string(trace.Fact("jvm"))
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
    Line("mode", mode);
  }
  if (trace.running) Line("state", "recording still runs: this is its data so far");
  WriteAgent(trace);
  WritePlanner(trace);
  WriteTotals(trace);
}

// "12 entry · 14 exit": the counts whose keys begin with the prefix.
std::string ListCounts(const TraceInfo& trace, std::string_view prefix) {
  std::string list;
  for (const TraceCount& count : trace.counts) {
    if (!count.key.starts_with(prefix)) continue;
    if (!list.empty()) list += " · ";
    StrAppend(&list, FormatCount(count.value), " ", count.key.substr(prefix.size()));
  }
  return list;
}

int64_t CountOf(const TraceInfo& trace, std::string_view key) {
  const auto found = std::find_if(trace.counts.begin(), trace.counts.end(),
                                  [&](const TraceCount& count) { return count.key == key; });
  return found == trace.counts.end() ? 0 : found->value;
}

// The work of the probe planner, and what it left out.
void SummaryWriter::WritePlanner(const TraceInfo& trace) {
  const std::string probes = ListCounts(trace, "planner.probe.");
  if (probes.empty()) return;
  Line("probes", probes);
  if (const int64_t blocks = CountOf(trace, "planner.probe.block"); blocks > 0) {
    const int64_t counters = CountOf(trace, "planner.probe.block-counter");
    Line("", StrCat(FormatPercent(PercentOf(counters, blocks)), " of the blocks have a counter"));
  }
  const std::string methods = ListCounts(trace, "planner.method.");
  if (!methods.empty()) Line("", StrCat("methods without, or with fewer: ", methods));
  const std::string calls = ListCounts(trace, "planner.call.");
  if (!calls.empty()) Line("", StrCat("calls out of scope without: ", calls));
}

void SummaryWriter::Lines(std::string_view key, const std::vector<std::string>& pieces) {
  const int room = input_.options.width > 0 ? std::max(input_.options.width - kKeyWidth, 40) : 0;
  std::string line;
  for (const std::string& piece : pieces) {
    const std::string longer = line.empty() ? piece : StrCat(line, " · ", piece);
    if (!line.empty() && room > 0 && DisplayWidth(longer) > room) {
      Line(key, line);
      key = "";
      line = piece;
    } else {
      line = longer;
    }
  }
  if (!line.empty()) Line(key, line);
}

// Exact totals of events whose records are limited in number.
void SummaryWriter::WriteTotals(const TraceInfo& trace) {
  std::vector<std::string> totals;
  for (const TraceCount& count : trace.counts) {
    if (count.value == 0 || !count.key.starts_with("total.") || count.key.ends_with(".recorded")) {
      continue;
    }
    if (count.key.ends_with(".ns")) {
      const std::string what = count.what.substr(0, count.what.find(':'));
      totals.push_back(StrCat(what, " took ", FormatNanoseconds(static_cast<double>(count.value))));
    } else {
      totals.push_back(StrCat(FormatCount(count.value), " ", count.what));
    }
  }
  Lines("totals", totals);
}

void SummaryWriter::WriteHooks() {
  const std::vector<HookTotal> hooks = HookTotals(input_);
  if (hooks.empty()) return;
  const auto called = std::count_if(hooks.begin(), hooks.end(),
                                    [](const HookTotal& hook) { return hook.sums.calls != 0; });
  const bool has_methods =
      std::any_of(hooks.begin(), hooks.end(), [](const HookTotal& hook) { return hook.is_method; });
  std::string text =
      StrCat(FormatCount(HookedCalls(hooks)), " calls of ", hooks.size(),
             has_methods ? " hooked function" : " native function", hooks.size() == 1 ? "" : "s");
  if (const auto never = static_cast<int64_t>(hooks.size()) - called; never > 0) {
    StrAppend(&text, ", ", FormatCount(never), " of them never called");
  }
  Line("hooks", StrCat(text, " (--report=hooks)"));
}

// A line each.
void SummaryWriter::WriteMetrics() {
  std::string_view key = "metrics";
  for (const MetricTotal& metric : MetricTotals(input_)) {
    const std::string value =
        FormatInteger(metric.total, StyleOf(metric.info.unit), input_.units());
    Line(key, StrCat(metric.info.name, " ", value, metric.info.what.empty() ? "" : " ",
                     metric.info.what));
    key = "";
  }
}

// The number of records of each code.
void SummaryWriter::WriteRecords() {
  std::vector<std::string> pieces;
  for (const RecordCounts::Row& row : input_.records.Rows()) {
    const int64_t count = row.begins > 0 ? row.begins : row.ends;
    // `enter` and `exit` of text traces, which name no kind, share the code of boundary calls.
    const bool of_no_kind = row.code->major == format::kBoundary && totals_.boundary == 0;
    pieces.push_back(of_no_kind ? StrCat(FormatCount(count), " calls of unknown kind")
                                : StrCat(FormatCount(count), " ", row.code->name, " (",
                                         CodeText(row.code->major, row.minor), ")"));
  }
  Lines("records", pieces);
}

int64_t NumberOf(const TraceInfo& trace, std::string_view key) {
  int64_t number = 0;
  return ParseInteger(trace.Fact(key), number) ? number : 0;
}

// The cost of the recording itself.
void SummaryWriter::WriteAgent(const TraceInfo& trace) {
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
    StrAppend(&text, " · ", FormatCount(static_cast<int64_t>(fact("methods_probed"))),
              " methods with probes");
  }
  Line("agent", text);
}

void SummaryWriter::WriteWork() {
  const Units units = input_.units();
  Line("duration",
       StrCat(units.Time(WrapSub(input_.last_time, input_.first_time)), " · ",
              input_.threads.size(), input_.threads.size() == 1 ? " thread" : " threads"));
  if (totals_.calls > 0) {
    std::string calls = StrCat(FormatCount(totals_.calls), " of ",
                               FormatCount(static_cast<int64_t>(totals_.routines)), " routines in ",
                               FormatCount(static_cast<int64_t>(input_.tree.size())), " nodes");
    if (totals_.calls_jitted > 0) {
      StrAppend(&calls, absl::StrFormat(" · %.1f %% of the calls ran compiled",
                                        PercentOf(totals_.calls_jitted, totals_.calls)));
    }
    Line("calls", calls);
  }
  WriteUncounted();
  if (totals_.boundary > 0) {
    Line("", StrCat(FormatCount(totals_.boundary), " calls left the instrumented scope"));
  }
  WriteOutside();
  if (totals_.exceptions > 0) {
    Line("", StrCat(FormatCount(totals_.exceptions), " exceptions thrown or caught"));
  }
}

// A kind of calls that was left out: paths are there, without its calls.
void SummaryWriter::WriteUncounted() {
  for (const TraceInfo& trace : input_.model.traces()) {
    const std::string codes = StrCat(";", trace.Fact("codes"), ";");
    if (codes.find(";-interpreted;") != std::string::npos) {
      Line("", "calls that ran interpreted (0x30) are not counted: codes=-0x30");
    }
    if (codes.find(";-jitted;") != std::string::npos) {
      Line("", "calls that ran compiled (0x50) are not counted: codes=-0x50");
    }
  }
}

void SummaryWriter::WriteOutside() {
  std::vector<std::string> pieces;
  for (const auto& [name, cost, is_charged] : OutsideGroups(input_)) {
    std::string piece = StrCat(FormatCount(cost.calls), " ", name);
    if (cost.cycles != 0) StrAppend(&piece, ", ", FormatCount(cost.cycles), " cycles");
    if (cost.time != 0) StrAppend(&piece, ", ", input_.units().Time(cost.time));
    if (!is_charged) piece += ", not charged";
    pieces.push_back(std::move(piece));
  }
  Lines("outside", pieces);
}

// How samples matched, with at least one piece.
std::vector<std::string> MergePieces(const MergeStats& merge) {
  std::vector<std::string> pieces;
  // The stacks of samples without frames are unknown: they are listed separately.
  const int64_t with_frames = merge.samples - merge.without_frames;
  if (with_frames > 0 || merge.samples == 0) {
    pieces.push_back(absl::StrFormat("%.1f %% whole", PercentOf(merge.whole, with_frames)));
  }
  const int64_t with_events = merge.samples - merge.without_events;
  // Chains place or reject each sample that has both: if neither happened, none was requested.
  if (with_events > merge.without_frames && merge.placed + merge.unmatched == 0) {
    pieces.push_back("not placed among the events: not requested (--merge)");
  } else if (with_events > 0) {
    pieces.push_back(absl::StrFormat("%.1f %% of %s with events placed",
                                     PercentOf(merge.placed, with_events),
                                     FormatCount(with_events)));
  }
  if (merge.unmatched > 0) pieces.push_back(StrCat(FormatCount(merge.unmatched), " unmatched"));
  if (merge.without_frames > 0) {
    pieces.push_back(StrCat(FormatCount(merge.without_frames), " without frames"));
  }
  return pieces;
}

void SummaryWriter::WriteMerge() {
  WriteSamples();
  WriteSampled();
}

void SummaryWriter::WriteSamples() {
  const MergeStats& merge = input_.merge;
  std::string text = FormatCount(merge.samples);
  if (merge.ticks != merge.samples || input_.units().interval_ns > 0) {
    StrAppend(&text, " (", input_.units().Ticks(merge.ticks),
              input_.units().interval_ns > 0 ? ")" : " ticks)");
  }
  const std::vector<std::string> pieces = MergePieces(merge);
  for (size_t i = 0; i < pieces.size(); ++i) StrAppend(&text, i == 0 ? ": " : ", ", pieces[i]);
  Line("samples", text);
}

void SummaryWriter::WriteSampled() {
  WriteStates();
  for (const TraceInfo& trace : input_.model.traces()) WriteSampling(trace);
  if (input_.merge.unwinds > 0) Line("unwinds", FormatCount(input_.merge.unwinds));
}

// The states of threads, by ticks; shown if there are others than running.
void SummaryWriter::WriteStates() {
  int64_t ticks[kSampleStates] = {};
  int64_t whole = 0;
  for (const LoggedSample& sample : input_.samples.samples()) {
    int64_t& of_state = ticks[static_cast<size_t>(sample.state)];
    of_state = WrapAdd(of_state, sample.weight);
    whole = WrapAdd(whole, sample.weight);
  }
  if (whole == ticks[static_cast<size_t>(SampleState::kRunning)]) return;
  std::vector<std::string> pieces;
  for (size_t i = 0; i < kSampleStates; ++i) {
    if (ticks[i] == 0) continue;
    pieces.push_back(StrCat(FormatPercent(PercentOf(ticks[i], whole)), " ",
                            SampleStateName(static_cast<SampleState>(i))));
  }
  Lines("states", pieces);
}

// The cost of the samples' stacks.
void SummaryWriter::WriteSampling(const TraceInfo& trace) {
  const int64_t median = NumberOf(trace, "handler_median_ns");
  if (median == 0) return;
  std::string text = StrCat(
      "median ", FormatNanoseconds(static_cast<double>(median)), ", p99 ",
      FormatNanoseconds(static_cast<double>(NumberOf(trace, "handler_p99_ns"))), " a sample");
  if (NumberOf(trace, "sample_bytes") > 0) {
    StrAppend(&text, " · ", NumberOf(trace, "sample_bytes"), " bytes a sample on disk");
  }
  Line("handler", text);
}

void SummaryWriter::WriteInvariants() {
  const InvariantCheck check = input_.arcs.Check();
  Line("invariants",
       absl::StrFormat("%d of 4 hold over %s stanzas", check.held(), FormatCount(check.stanzas)));
}

void SummaryWriter::WriteLosses(const std::vector<Loss>& losses) {
  if (losses.empty()) {
    Line("losses", "none");
    return;
  }
  constexpr int kIndent = 2;
  const int width = input_.options.width;
  const int room = width > 0 ? std::max(width - kKeyWidth - kIndent, 40) : 0;
  std::string_view key = "losses";
  for (const Loss& loss : losses) {
    // Names of classes or methods are at its end.
    std::string_view indent;
    const std::string text =
        StrCat(SeverityName(loss.severity), ": ", FormatCount(loss.count), " ", loss.what);
    for (const std::string& line : WrapWords(text, room)) {
      Line(key, StrCat(indent, line));
      key = "";
      indent = "  ";
    }
    if (!loss.advice.empty()) Line("", StrCat("  → ", loss.advice));
  }
}

}  // namespace

void SummaryText(const ReportInput& input, std::ostream& out) { SummaryWriter(input, out).Write(); }

void SummaryHeadText(const ReportInput& input, std::ostream& out) {
  SummaryWriter(input, out).WriteHead();
}

void SummaryDetailsText(const ReportInput& input, std::ostream& out) {
  SummaryWriter(input, out).WriteDetails();
}

}  // namespace jtrace::postproc
