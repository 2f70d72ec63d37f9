// The summary: what was traced, what was lost, how well samples matched.
#include <algorithm>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "postproc/model/trace_model.h"
#include "postproc/report/report.h"
#include "postproc/report/shorten.h"
#include "postproc/report/summary_totals.h"
#include "postproc/report/units.h"
#include "postproc/support/strings.h"
#include "proto/trace_format.h"

namespace jtrace::postproc {
namespace {

// The lines of the summary: a key, and a value that is shortened or broken to fit the width.
class SummaryLines {
 public:
  static constexpr int kKeyWidth = 12;

  // `width` 0: no limit.
  SummaryLines(int width, std::ostream& out) : width_(width), out_(out) {}

  void Add(std::string_view key, std::string_view value);
  // Pieces joined by " · ", in as many lines as they need.
  void Add(std::string_view key, const std::vector<std::string>& pieces);

 private:
  const int width_;
  std::ostream& out_;
};

void SummaryLines::Add(std::string_view key, std::string_view raw_value) {
  const std::string value = Printable(raw_value);
  const std::string padded =
      StrCat(key, std::string(static_cast<size_t>(kKeyWidth - DisplayWidth(key)), ' '));
  out_ << padded << (width_ > 0 ? Shorten(value, std::max(width_ - kKeyWidth, 20)) : value) << '\n';
}

void SummaryLines::Add(std::string_view key, const std::vector<std::string>& pieces) {
  const int room = width_ > 0 ? std::max(width_ - kKeyWidth, 40) : 0;
  std::string line;
  for (const std::string& piece : pieces) {
    const std::string longer = line.empty() ? piece : StrCat(line, " · ", piece);
    if (!line.empty() && room > 0 && DisplayWidth(longer) > room) {
      Add(key, line);
      key = "";
      line = piece;
    } else {
      line = longer;
    }
  }
  if (!line.empty()) Add(key, line);
}

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

// The JVM and the agent, the mode, the cost of the recording, the work of the probe planner,
// totals.
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

class SummaryWriter {
 public:
  SummaryWriter(const ReportInput& input, std::ostream& out)
      : input_(input), lines_(input.options.width, out), totals_(SumUp(input)) {}

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
    for (const TraceInfo& trace : input_.model.traces()) WriteRecording(trace, lines_);
    WriteHooks();
    WriteMetrics();
    WriteRecords();
    if (input_.merge.samples + input_.merge.unwinds > 0) WriteSampled();
    WriteInvariants();
    WriteLosses(AllLosses(input_));
  }

 private:
  void WriteTrace(const TraceInfo& trace);
  void WriteProgram(const TraceInfo& trace);
  void WriteWork();
  void WriteUncounted();
  void WriteOutside();
  void WriteHooks();
  void WriteMetrics();
  void WriteRecords();
  void WriteMerge();
  void WriteSamples();
  void WriteSampled();
  void WriteStates();
  void WriteInvariants();
  void WriteLosses(const std::vector<Loss>& losses);

  const ReportInput& input_;
  SummaryLines lines_;
  const Totals totals_;
};

void SummaryWriter::WriteTrace(const TraceInfo& trace) {
  lines_.Add("trace", trace.file);
  WriteProgram(trace);
  WriteRecording(trace, lines_);
}

void SummaryWriter::WriteProgram(const TraceInfo& trace) {
  if (trace.Fact("command").empty()) return;
  const std::string_view pid = trace.Fact("pid");
  lines_.Add("program", pid.empty() ? std::string(trace.Fact("command"))
                                    : StrCat(trace.Fact("command"), "  (pid ", pid, ")"));
}

void SummaryWriter::WriteHooks() {
  const std::vector<HookTotal> hooks = HookTotals(input_);
  if (hooks.empty()) return;
  const auto called = std::count_if(hooks.begin(), hooks.end(),
                                    [](const HookTotal& hook) { return hook.sums.calls != 0; });
  const bool has_methods =
      std::any_of(hooks.begin(), hooks.end(), [](const HookTotal& hook) { return hook.is_method; });
  std::string text = StrCat(Counted(HookedCalls(hooks), "call"), " of ",
                            Counted(static_cast<int64_t>(hooks.size()),
                                    has_methods ? "hooked function" : "native function"));
  if (const auto never = static_cast<int64_t>(hooks.size()) - called; never > 0) {
    StrAppend(&text, ", ", FormatCount(never), " of them never called");
  }
  lines_.Add("hooks", StrCat(text, " (--report=hooks)"));
}

// A line each.
void SummaryWriter::WriteMetrics() {
  std::string_view key = "metrics";
  for (const MetricTotal& metric : MetricTotals(input_)) {
    const std::string value =
        FormatInteger(metric.total, StyleOf(metric.info.unit), input_.units());
    lines_.Add(key, StrCat(metric.info.name, " ", value, metric.info.what.empty() ? "" : " ",
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
    pieces.push_back(of_no_kind ? StrCat(Counted(count, "call"), " of unknown kind")
                                : StrCat(CountedText(count, row.code->plural), " (",
                                         CodeText(row.code->major, row.minor), ")"));
  }
  lines_.Add("records", pieces);
}

void SummaryWriter::WriteWork() {
  const Units units = input_.units();
  const auto& traces = input_.model.traces();
  const bool had_enough = std::any_of(traces.begin(), traces.end(), [](const TraceInfo& trace) {
    return trace.Fact("end") == kEndedBySamples;
  });
  lines_.Add("duration", StrCat(units.Time(WrapSub(input_.last_time, input_.first_time)), " · ",
                                Counted(static_cast<int64_t>(input_.threads.size()), "thread"),
                                had_enough ? " · " : "", had_enough ? kEndedBySamples : ""));
  if (totals_.calls > 0) {
    std::vector<std::string> calls = {
        StrCat(FormatCount(totals_.calls), " of ",
               Counted(static_cast<int64_t>(totals_.routines), "routine"), " in ",
               Counted(static_cast<int64_t>(input_.tree.size()), "node"))};
    if (totals_.calls_jitted > 0) {
      calls.push_back(absl::StrFormat("%.1f %% of the calls ran compiled",
                                      PercentOf(totals_.calls_jitted, totals_.calls)));
    }
    lines_.Add("calls", calls);
  }
  WriteUncounted();
  if (totals_.boundary > 0) {
    lines_.Add("", StrCat(Counted(totals_.boundary, "call"), " left the instrumented scope"));
  }
  WriteOutside();
  if (totals_.exceptions > 0) {
    lines_.Add("", StrCat(Counted(totals_.exceptions, "exception"), " thrown or caught"));
  }
}

// A kind of calls that was left out: paths are there, without its calls.
void SummaryWriter::WriteUncounted() {
  for (const TraceInfo& trace : input_.model.traces()) {
    const std::string codes = StrCat(";", trace.Fact("codes"), ";");
    if (codes.find(";-interpreted;") != std::string::npos) {
      lines_.Add("", "calls that ran interpreted (0x30) are not counted: codes=-0x30");
    }
    if (codes.find(";-jitted;") != std::string::npos) {
      lines_.Add("", "calls that ran compiled (0x50) are not counted: codes=-0x50");
    }
    if (codes.find(";-code;-inlining;") != std::string::npos && totals_.calls > 0) {
      lines_.Add("", "calls of C1's code are counted as interpreted: codes=-0x51");
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
  lines_.Add("outside", pieces);
}

// How samples matched, with at least one piece.
std::vector<std::string> MergePieces(const MergeStats& merge) {
  std::vector<std::string> pieces;
  // The stacks of samples without frames are unknown: they are listed separately.
  const int64_t with_frames = merge.samples - merge.without_frames;
  if (with_frames > 0 || merge.samples == 0) {
    pieces.push_back(absl::StrFormat("%.1f %% whole", PercentOf(merge.whole, with_frames)));
  }
  if (merge.frozen > 0) {
    pieces.push_back(
        absl::StrFormat("%.1f %% with [frozen_frames]", PercentOf(merge.frozen, with_frames)));
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
  lines_.Add("samples", text);
  if (merge.frozen > 0) {
    lines_.Add("", "[frozen_frames]: callers in virtual threads that the JVM resumes step by step");
  }
}

void SummaryWriter::WriteSampled() {
  WriteStates();
  for (const TraceInfo& trace : input_.model.traces()) WriteSampling(trace, lines_);
  if (input_.merge.unwinds > 0) lines_.Add("unwinds", FormatCount(input_.merge.unwinds));
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
  lines_.Add("states", pieces);
}

void SummaryWriter::WriteInvariants() {
  const InvariantCheck check = input_.arcs().Check();
  lines_.Add("invariants",
             StrCat(check.held(), " of 4 hold over ", Counted(check.stanzas, "stanza")));
}

void SummaryWriter::WriteLosses(const std::vector<Loss>& losses) {
  if (losses.empty()) {
    lines_.Add("losses", "none");
    return;
  }
  constexpr int kIndent = 2;
  const int width = input_.options.width;
  const int room = width > 0 ? std::max(width - SummaryLines::kKeyWidth - kIndent, 40) : 0;
  std::string_view key = "losses";
  for (const Loss& loss : losses) {
    // Names of classes or methods are at its end.
    std::string_view indent;
    const std::string text =
        StrCat(SeverityName(loss.severity), ": ", CountedText(loss.count, loss.what));
    for (const std::string& line : WrapWords(text, room)) {
      lines_.Add(key, StrCat(indent, line));
      key = "";
      indent = "  ";
    }
    if (!loss.advice.empty()) lines_.Add("", StrCat("  → ", loss.advice));
  }
}

// Keys and values.
// NOLINTNEXTLINE(readability-function-size): a list of rows.
Table SummaryTable(const ReportInput& input) {
  Table table;
  table.columns = {{"key"}, {"value"}};
  const auto add = [&](std::string_view key, Cell value) {
    table.rows.push_back({Cell::Text(key), std::move(value)});
  };
  for (const TraceInfo& trace : input.model.traces()) {
    for (const auto& [key, value] : trace.facts) add(key, Cell::Text(value));
    if (trace.cut_off) add("cut_off", Cell::Int(1));
    if (trace.running) add("running", Cell::Int(1));
  }
  for (const TraceInfo& trace : input.model.traces()) {
    for (const TraceCount& count : trace.counts) add(count.key, Cell::Int(count.value));
  }
  const Totals totals = SumUp(input);
  const InvariantCheck check = input.arcs().Check();
  add("unit", Cell::Text(TimeUnitName(input.model.unit())));
  add("duration", Cell::Int(WrapSub(input.last_time, input.first_time)));
  add("threads", Cell::Int(static_cast<int64_t>(input.threads.size())));
  add("nodes", Cell::Int(static_cast<int64_t>(input.tree.size())));
  add("routines", Cell::Int(static_cast<int64_t>(totals.routines)));
  add("calls", Cell::Int(totals.calls));
  add("calls_jitted", Cell::Int(totals.calls_jitted));
  add("calls_boundary", Cell::Int(totals.boundary));
  add("exceptions", Cell::Int(totals.exceptions));
  const std::vector<HookTotal> hooks = HookTotals(input);
  add("hooks", Cell::Int(static_cast<int64_t>(hooks.size())));
  add("calls_hooked", Cell::Int(HookedCalls(hooks)));
  add("dropped_events", Cell::Int(input.records.dropped_events()));
  add("cum", Cell::Int(totals.cum));
  for (const auto& [name, cost, is_charged] : OutsideGroups(input)) {
    add(StrCat("outside.", name, ".calls"), Cell::Int(cost.calls));
    add(StrCat("outside.", name, ".cycles"), Cell::Int(cost.cycles));
    add(StrCat("outside.", name, ".time"), Cell::Int(cost.time, Style::kTime));
  }
  for (const MetricTotal& metric : MetricTotals(input)) {
    add(StrCat("metric.", metric.info.name), Cell::Int(metric.total, StyleOf(metric.info.unit)));
  }
  add("samples", Cell::Int(input.merge.samples));
  add("ticks", Cell::Int(input.merge.ticks));
  add("samples_whole", Cell::Int(input.merge.whole));
  if (input.merge.frozen > 0) add("samples_frozen", Cell::Int(input.merge.frozen));
  add("samples_placed", Cell::Int(input.merge.placed));
  add("samples_without_events", Cell::Int(input.merge.without_events));
  add("samples_without_frames", Cell::Int(input.merge.without_frames));
  add("unwinds", Cell::Int(input.merge.unwinds));
  add("unmatched", Cell::Int(input.merge.unmatched));
  add("stanzas", Cell::Int(check.stanzas));
  add("invariants_held", Cell::Int(check.held()));
  for (const TraceInfo& trace : input.model.traces()) {
    for (const Loss& loss : trace.losses) add(StrCat("loss.", loss.name), Cell::Int(loss.count));
  }
  for (const RecordCounts::Row& row : input.records.Rows()) {
    const EventCode& code = *row.code;
    if (row.begins > 0) {
      add(StrCat("records.", CodeText(code.major, row.minor)), Cell::Int(row.begins));
    }
    if (row.ends > 0) {
      add(StrCat("records.", CodeText(code.major, row.minor | format::kEnd)), Cell::Int(row.ends));
    }
  }
  return table;
}

void SummaryText(const ReportInput& input, std::ostream& out) { SummaryWriter(input, out).Write(); }

}  // namespace

void SummaryHeadText(const ReportInput& input, std::ostream& out) {
  SummaryWriter(input, out).WriteHead();
}

void SummaryDetailsText(const ReportInput& input, std::ostream& out) {
  SummaryWriter(input, out).WriteDetails();
}

extern const Report kSummaryReport = {
    .name = "summary",
    .group = ReportGroup::kRecording,
    .summary = "what was traced, what was lost, how well samples matched",
    .example = "jtrace-post --report=summary trace.bin",
    .accepts = kAcceptsOfTree | kAcceptsMethodCosts,
    .table = SummaryTable,
    .text = SummaryText,
};

}  // namespace jtrace::postproc
