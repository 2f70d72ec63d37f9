#include "postproc/page/page_data.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "common/jdk_packages.h"
#include "common/json_writer.h"
#include "postproc/calltree/group_name.h"
#include "postproc/calltree/timeline.h"
#include "postproc/findings/findings_text.h"
#include "postproc/findings/rules.h"
#include "postproc/lines/merged_lines.h"
#include "postproc/page/page_times.h"
#include "postproc/report/headline.h"
#include "postproc/report/line_cells.h"
#include "postproc/report/program_code.h"
#include "postproc/report/report.h"
#include "postproc/report/source_listing.h"
#include "postproc/report/summary_totals.h"
#include "postproc/source/source_finder.h"
#include "postproc/support/strings.h"
#include "postproc/version.h"

namespace jtrace::postproc {
namespace {

// The most bytes of source text in a page, and the most lines with counts. Files with the most
// executed instructions come first; of others the page has their coverage.
inline constexpr size_t kMaxPageText = 4 << 20;

inline constexpr size_t kMaxPageLines = 200'000;

struct PageSourceLimits {
  size_t text = kMaxPageText;
  size_t lines = kMaxPageLines;
};

class SourcesWriter {
 public:
  SourcesWriter(const ReportInput& input, const PageSourceLimits& limits,
                absl::FunctionRef<int64_t(RoutineId)> number_of, JsonWriter& json)
      : input_(input), left_(limits), number_of_(number_of), json_(json) {}

  void Write();

 private:
  void WriteFile(const CountedFile& file);
  void WriteLines(const CountedFile& file);
  void WriteShares(const CountedFile& file);
  void WriteMethods(const Methods& methods);
  // Null where there is no source, or no room for it.
  void WriteText(const CountedFile& file);

  const ReportInput& input_;
  PageSourceLimits left_;
  absl::FunctionRef<int64_t(RoutineId)> number_of_;
  JsonWriter& json_;
  int64_t without_lines_ = 0;
  int64_t without_text_ = 0;
};

bool HasRunLines(const CountedFile& file) {
  return std::any_of(file.lines.begin(), file.lines.end(),
                     [](const LineCounts& line) { return MarkOf(&line) != '#'; });
}

void SourcesWriter::Write() {
  std::vector<CountedFile> files = CountedFiles(SelectMethods(input_.lines, ""));
  std::stable_sort(files.begin(), files.end(), [](const CountedFile& a, const CountedFile& b) {
    return a.instructions > b.instructions;
  });
  json_.Key("sources");
  json_.BeginObject();
  json_.Key("files");
  json_.BeginArray();
  for (const CountedFile& file : files) WriteFile(file);
  json_.EndArray();
  json_.Int("without_lines", without_lines_);
  json_.Int("without_text", without_text_);
  json_.EndObject();
}

void SourcesWriter::WriteFile(const CountedFile& file) {
  const Covered lines = CoveredLines(file.lines);
  const Covered branches = CoveredBranches(file.lines);
  json_.BeginObject();
  json_.Text("path", file.path);
  json_.Int("instructions", ToInteger(file.instructions));
  json_.Int("lines", lines.total);
  json_.Int("lines_run", lines.covered);
  json_.Int("branches", branches.total);
  json_.Int("branches_taken", branches.covered);
  int64_t ticks = 0;
  for (const LineCounts& line : file.lines) ticks += line.ticks;
  json_.Int("ticks", ticks);
  if (HasRunLines(file)) {
    if (file.lines.size() <= left_.lines) {
      left_.lines -= file.lines.size();
      WriteLines(file);
      WriteShares(file);
      WriteMethods(file.methods);
      WriteText(file);
    } else {
      ++without_lines_;
    }
  }
  json_.EndObject();
}

void SourcesWriter::WriteLines(const CountedFile& file) {
  const std::vector<LineCounts>& lines = file.lines;
  std::string marks;
  for (const LineCounts& line : lines) marks += MarkOf(&line);
  json_.Text("marks", marks);
  const auto column = [&](std::string_view key, auto of) { json_.Column(key, lines, of); };
  column("number", [](const LineCounts& line) -> int64_t { return line.line; });
  column("count", [](const LineCounts& line) { return ToInteger(line.executions); });
  column("bytecodes", [](const LineCounts& line) { return ToInteger(line.instructions); });
  column("cycles", [](const LineCounts& line) { return ToInteger(line.cycles); });
  column("self", [](const LineCounts& line) { return line.ticks; });
  column("outcomes", [](const LineCounts& line) -> int64_t { return line.branches; });
  column("taken", [](const LineCounts& line) -> int64_t { return line.branches_taken; });
  // Only of lines with several.
  json_.List("blocks", lines, [&](const LineCounts& line) {
    json_.BeginArray();
    if (line.blocks.size() > 1) {
      for (const uint64_t block : line.blocks) json_.Int(ToInteger(block));
    }
    json_.EndArray();
  });
}

// Of each value that the listing may show, hundredths of a percent of the method's; -1: none.
void SourcesWriter::WriteShares(const CountedFile& file) {
  constexpr std::pair<std::string_view, LineValue> kValues[] = {
      {"self", LineValue::kTicks},
      {"bytecodes", LineValue::kBytecodes},
      {"cycles", LineValue::kCycles}};
  json_.Key("shares");
  json_.BeginObject();
  for (const auto& [key, value] : kValues) {
    const LineShares shares(file.methods, value);
    json_.Column(key, file.lines, [&](const LineCounts& line) -> int64_t {
      const std::optional<double> percent = shares.Of(line.line);
      return percent.has_value() ? std::lround(*percent * 100) : -1;
    });
  }
  json_.EndObject();
}

void SourcesWriter::WriteMethods(const Methods& methods) {
  Methods with_lines;
  for (const MethodLines* method : methods) {
    if (!method->lines.empty()) with_lines.push_back(method);
  }
  std::stable_sort(with_lines.begin(), with_lines.end(),
                   [](const MethodLines* a, const MethodLines* b) {
                     return a->lines.front().line < b->lines.front().line;
                   });
  json_.List("methods", with_lines, [&](const MethodLines* method) {
    json_.BeginObject();
    json_.Text("name", FullName(*method));
    json_.Int("routine", method->routine ? number_of_(method->routine) : -1);
    json_.Int("first", method->lines.front().line);
    json_.Int("last", method->lines.back().line);
    json_.Int("calls", ToInteger(method->calls));
    json_.Int("bytecodes", ToInteger(method->instructions));
    json_.Bool("inlined", method->was_inlined || method->is_part);
    json_.Bool("never_loaded", method->never_loaded);
    json_.EndObject();
  });
}

void SourcesWriter::WriteText(const CountedFile& file) {
  const std::optional<FoundSource> found = input_.sources.Find(file.path);
  if (!found.has_value()) return;
  size_t size = 0;
  for (const std::string& line : found->lines) size += line.size() + 1;
  if (size > left_.text) {
    ++without_text_;
    return;
  }
  left_.text -= size;
  json_.Text("where", found->where);
  json_.List("text", found->lines, [&](const std::string& line) { json_.Text(line); });
}

// The member "sources". `number_of` is the page's number of a routine; -1: it has none. Only files
// of which something ran have lines.
void WritePageSources(const ReportInput& input, const PageSourceLimits& limits,
                      absl::FunctionRef<int64_t(RoutineId)> number_of, JsonWriter& json) {
  SourcesWriter(input, limits, number_of, json).Write();
}

// The member "timeline".
void WritePageTimeline(const Timeline& timeline, JsonWriter& json) {
  json.Key("timeline");
  json.BeginObject();
  json.Int("start", timeline.start());
  json.Int("width", timeline.width());
  const auto series = [&](std::string_view key, Series which) {
    json.Key(key);
    json.BeginArray();
    for (size_t i = 0; i < timeline.size(); ++i) json.Int(timeline.value(which, i));
    json.EndArray();
  };
  series("running", Series::kRunning);
  series("waiting", Series::kWaiting);
  series("c1", Series::kC1);
  series("c2", Series::kC2);
  series("other_code", Series::kOtherCode);
  series("classes", Series::kClasses);
  series("gc", Series::kGc);
  json.List("collections", timeline.collections(), [&](const Timeline::Collection& collection) {
    json.BeginArray();
    json.Int(collection.begin);
    json.Int(collection.end);
    json.Text(collection.what);
    json.EndArray();
  });
  json.Int("collections_left_out", timeline.collections_left_out());
  json.EndObject();
}

// What the page shows first: where the measure went, and the program's heaviest methods.
constexpr size_t kMost = 8;          // of each list
constexpr size_t kMostCallers = 12;  // of a method

// The page's name of a measure (postproc/web/src/measure.ts).
std::string PageMeasure(const Measure& measure) {
  return measure.kind == Measure::Kind::kMetric ? StrCat("metric:", measure.name) : measure.name;
}

class HeadlineWriter {
 public:
  HeadlineWriter(const ReportInput& input, absl::FunctionRef<int64_t(RoutineId)> number_of,
                 JsonWriter& json)
      : input_(input), number_of_(number_of), json_(json) {}

  void Write() {
    const Headline headline = MakeHeadline(input_, kMost);
    json_.Key("headline");
    json_.BeginObject();
    json_.Text("measure", PageMeasure(input_.measure()));
    json_.Int("whole", input_.measure().whole);
    WriteConsumers(headline);
    json_.Int("probe_compilation", EstimatedProbeCompilation(input_));
    WriteMethods("heaviest", headline.heaviest);
    WriteMethods("called", headline.most_called);
    WriteMethods("allocates", headline.allocating);
    json_.EndObject();
  }

 private:
  void WriteConsumers(const Headline& headline);
  void WriteMethods(std::string_view key, const std::vector<HeavyMethod>& methods);

  const ReportInput& input_;
  absl::FunctionRef<int64_t(RoutineId)> number_of_;
  JsonWriter& json_;
};

void HeadlineWriter::WriteConsumers(const Headline& headline) {
  json_.Key("consumers");
  json_.BeginArray();
  for (size_t i = 0; i < kConsumers; ++i) {
    const Consumption& used = headline.consumers[i];
    if (used.amount == 0) continue;
    json_.BeginObject();
    json_.Text("name", ConsumerName(static_cast<Consumer>(i)));
    json_.Bool("of_program", IsOfProgram(static_cast<Consumer>(i)));
    json_.Int("amount", used.amount);
    json_.List("parts", used.parts, [&](const Consumption::Part& part) {
      json_.BeginArray();
      json_.Text(part.name);
      json_.Int(part.amount);
      json_.EndArray();
    });
    json_.EndObject();
  }
  json_.EndArray();
}

void HeadlineWriter::WriteMethods(std::string_view key, const std::vector<HeavyMethod>& methods) {
  json_.List(key, methods, [&](const HeavyMethod& method) {
    json_.BeginObject();
    json_.Int("routine", number_of_(method.routine));
    json_.Int("own", method.own);
    json_.Int("calls", method.calls);
    json_.Int("callee", method.callee ? number_of_(method.callee) : -1);
    json_.Int("of_callee", method.of_callee);
    const size_t callers = std::min(method.callers.size(), kMostCallers);
    json_.Column("callers", absl::MakeConstSpan(method.callers).first(callers), number_of_);
    json_.EndObject();
  });
}

// The member "headline", as --report=headline has it. `number_of` is the page's number of a
// routine; -1: it has none.
void WritePageHeadline(const ReportInput& input, absl::FunctionRef<int64_t(RoutineId)> number_of,
                       JsonWriter& json) {
  HeadlineWriter(input, number_of, json).Write();
}

// The key "findings"; none below --root, which has a part of the tree only.
void WritePageFindings(const ReportInput& input, JsonWriter& json) {
  const std::vector<Found> found =
      input.options.root.empty() ? FindAll(input).found : std::vector<Found>();
  json.List("findings", found, [&](const Found& it) {
    json.BeginObject();
    json.Text("rule", it.rule->name);
    json.Text("share", FormatPercent(it.finding.share));
    json.Text("of", ShareOfName(it.finding.of));
    json.Text("finding", it.finding.sentence);
    json.Text("evidence", it.finding.evidence);
    json.Text("suggestion", it.finding.suggestion);
    json.Text("next", NextCommand(input, it.finding));
    json.EndObject();
  });
}

class DataWriter {
 public:
  DataWriter(const ReportInput& input, size_t max_nodes, std::string& out)
      : input_(input), page_(input, max_nodes), json_(out) {}

  void Write();

 private:
  void WriteHead();
  void WriteTotals();
  void WriteMerge();
  void WriteInvariants();
  void WriteLosses();
  void WriteThreads();
  void WriteRoutines();
  void WriteNodes();
  void WritePlaces();
  void WriteApart();
  void WriteMetrics();
  void WriteFlat();
  void WritePruned();
  // A column of the page's nodes: of(CallNode) or, for nodes that were left out, of(PrunedSums).
  template <typename Get>
  void NodeColumn(std::string_view key, Get get);

  const ReportInput& input_;
  const PageTree page_;
  JsonWriter json_;
  // The number of a routine in the page: its index in the flat list without roots.
  std::vector<int64_t> number_;  // by row of the FlatProfile
  std::vector<const FlatRow*> routines_;
};

void DataWriter::Write() {
  for (const FlatRow& row : input_.flat().rows()) {
    number_.push_back(static_cast<int64_t>(routines_.size()));
    if (!row.is_root) routines_.push_back(&row);
  }
  json_.BeginObject();
  WriteHead();
  WritePageTraces(input_.model, json_);
  WriteTotals();
  WriteMerge();
  WriteInvariants();
  WriteLosses();
  WritePageFindings(input_, json_);
  WriteThreads();
  WriteRoutines();
  WriteMetrics();
  WriteNodes();
  WriteFlat();
  WritePruned();
  WritePageTimeline(input_.timeline, json_);
  WritePageTimes(input_, page_, {}, json_);
  std::vector<int64_t> by_routine(input_.model.routine_count() + 1, -1);
  for (size_t i = 0; i < routines_.size(); ++i) {
    by_routine[routines_[i]->routine.value] = static_cast<int64_t>(i);
  }
  const auto number_of = [&](RoutineId routine) { return by_routine[routine.value]; };
  WritePageHeadline(input_, number_of, json_);
  WritePageSources(input_, {}, number_of, json_);
  json_.EndObject();
}

void DataWriter::WriteHead() {
  const TraceModel& model = input_.model;
  json_.Int("format", kPageDataFormat);
  json_.Text("version", kVersion);
  json_.Text("title", PageTitle(model));
  json_.Text("unit", TimeUnitName(model.unit()));
  json_.Int("ns_per_unit", NanosecondsPer(model.unit()));
  json_.Int("tick_ns", model.interval_ns());
  json_.Int("duration", WrapSub(input_.last_time, input_.first_time));
}

void DataWriter::WriteTotals() {
  const Totals totals = SumUp(input_);
  json_.Key("totals");
  json_.BeginObject();
  json_.Int("calls", totals.calls);
  json_.Int("calls_jitted", totals.calls_jitted);
  json_.Int("boundary", totals.boundary);
  json_.Int("exceptions", totals.exceptions);
  json_.Int("routines", static_cast<int64_t>(totals.routines));
  json_.Int("nodes", static_cast<int64_t>(input_.tree.size()));
  json_.Int("dropped_events", input_.records.dropped_events());
  json_.EndObject();
}

void DataWriter::WriteMerge() {
  const MergeStats& merge = input_.merge;
  json_.Key("merge");
  json_.BeginObject();
  json_.Int("samples", merge.samples);
  json_.Int("unwinds", merge.unwinds);
  json_.Int("ticks", merge.ticks);
  json_.Int("whole", merge.whole);
  json_.Int("placed", merge.placed);
  json_.Int("without_events", merge.without_events);
  json_.Int("unmatched", merge.unmatched);
  json_.Int("without_frames", merge.without_frames);
  json_.EndObject();
}

void DataWriter::WriteInvariants() {
  const InvariantCheck check = input_.arcs().Check();
  json_.Key("invariants");
  json_.BeginObject();
  json_.Int("stanzas", check.stanzas);
  json_.Column("broken", check.broken, [](int64_t count) { return count; });
  json_.EndObject();
}

void DataWriter::WriteLosses() {
  json_.List("losses", AllLosses(input_), [&](const Loss& loss) {
    json_.BeginObject();
    json_.Text("severity", SeverityName(loss.severity));
    json_.Text("name", loss.name);
    json_.Int("count", loss.count);
    json_.Text("what", loss.what);
    json_.Text("advice", loss.advice);
    json_.EndObject();
  });
}

// None of a part of the tree (--root): some are about all records.
void DataWriter::WriteThreads() {
  json_.List("threads", input_.threads, [&](const ThreadSummary& summary) {
    const ThreadInfo& thread = input_.model.thread(summary.thread);
    json_.BeginObject();
    json_.Text("name", thread.name);
    json_.Text("group", GroupName(thread.name));
    json_.Int("tid", thread.tid);
    json_.Int("java_tid", thread.java_tid);
    json_.Int("trace", thread.trace);
    json_.Int("samples", summary.samples);
    json_.Int("folded", thread.folded_threads);
    json_.Bool("virtual", thread.is_virtual);
    json_.Bool("daemon", thread.is_daemon);
    json_.Bool("vm", thread.is_vm_internal);
    json_.EndObject();
  });
}

void DataWriter::WriteRoutines() {
  json_.List("routines", routines_, [&](const FlatRow* row) { json_.Text(row->name); });
  const std::vector<char> by_routine = FrameKinds(input_);
  std::string kinds;
  std::string owners;
  for (const FlatRow* row : routines_) {
    const char kind = by_routine[row->routine.value];
    const bool is_java = std::string_view("JCIEcn").find(kind) != std::string_view::npos;
    kinds += kind;
    owners += is_java && IsJdkClass(row->name) ? 'j' : '-';
  }
  json_.Text("kinds", kinds);
  json_.Text("owners", owners);
}

template <typename Get>
void DataWriter::NodeColumn(std::string_view key, Get get) {
  json_.Column(key, page_.nodes(), [&](const PageNode& node) -> int64_t {
    return node.is_pruned ? get(page_.pruned(node)) : get(input_.tree.node(node.source));
  });
}

void DataWriter::WriteNodes() {
  json_.Key("nodes");
  json_.BeginObject();
  json_.Column("level", page_.nodes(), [](const PageNode& node) { return node.level; });
  // -1: a [pruned] node. The numbers of roots follow those of the routines, in the order of the
  // threads.
  int64_t next_root = static_cast<int64_t>(routines_.size());
  json_.Column("name", page_.nodes(), [&](const PageNode& node) -> int64_t {
    if (node.is_pruned) return -1;
    if (node.level == 0) return next_root++;
    return number_[input_.flat().RowOf(node.source)];
  });
  if (input_.tree.has_places()) WritePlaces();
  std::string origins;
  for (const PageNode& node : page_.nodes()) {
    origins += node.is_pruned ? 'p' : "tes"[static_cast<int>(input_.tree.node(node.source).origin)];
  }
  json_.Text("origin", origins);
  WriteApart();
  NodeColumn("calls", [](const auto& node) { return node.calls; });
  NodeColumn("calls_jitted", [](const auto& node) { return node.calls_jitted; });
  NodeColumn("base", [](const auto& node) { return node.base; });
  NodeColumn("off", [](const auto& node) { return node.off; });
  NodeColumn("base_ticks", [](const auto& node) { return node.base_ticks; });
  NodeColumn("samples", [](const auto& node) { return node.samples; });
  const auto extreme = [&](std::string_view key, int64_t CallNode::*member) {
    json_.List(key, page_.nodes(), [&](const PageNode& node) {
      const CallNode& source = input_.tree.node(node.source);
      const bool is_known = !node.is_pruned && source.has_extremes && !source.has_rough_extremes;
      is_known ? json_.Int(source.*member) : json_.Null();
    });
  };
  extreme("min", &CallNode::min_base);
  extreme("max", &CallNode::max_base);
  json_.Key("metrics");
  json_.BeginArray();
  for (const MetricId metric : MetricsByName(input_.model)) {
    json_.BeginArray();
    for (const int64_t value : page_.Fold(input_.tree.MetricBase(metric))) json_.Int(value);
    json_.EndArray();
  }
  json_.EndArray();
  json_.EndObject();
}

void DataWriter::WritePlaces() {
  json_.Column("place", page_.nodes(), [&](const PageNode& node) -> int64_t {
    return node.is_pruned ? kNoCallSite : input_.tree.node(node.source).place;
  });
  std::vector<int64_t> repeated;  // node, number, node, number…
  for (size_t i = 0; i < page_.nodes().size(); ++i) {
    const PageNode& node = page_.nodes()[i];
    const int64_t count = node.is_pruned ? 0 : input_.tree.repeated_samples(node.source);
    if (count != 0) repeated.insert(repeated.end(), {static_cast<int64_t>(i), count});
  }
  json_.Column("repeated_samples", repeated, [](int64_t value) { return value; });
}

// Chains of --merge=none, beside nodes of the same name.
void DataWriter::WriteApart() {
  std::vector<int64_t> apart;
  for (size_t i = 0; i < page_.nodes().size(); ++i) {
    const PageNode& node = page_.nodes()[i];
    const bool is_apart = input_.tree.node(node.source).space == ChildSpace::kApart;
    if (!node.is_pruned && is_apart) apart.push_back(static_cast<int64_t>(i));
  }
  if (!apart.empty()) json_.Column("apart", apart, [](int64_t node) { return node; });
}

void DataWriter::WriteMetrics() {
  json_.Key("metrics");
  json_.BeginArray();
  for (const MetricId metric : MetricsByName(input_.model)) {
    json_.Text(input_.model.MetricName(metric));
  }
  json_.EndArray();
  json_.Key("metric_units");
  json_.BeginArray();
  for (const MetricId metric : MetricsByName(input_.model)) {
    json_.Text(MetricUnitName(InfoOfMetric(input_.model.MetricName(metric)).unit));
  }
  json_.EndArray();
}

void DataWriter::WriteFlat() {
  json_.Key("flat");
  json_.BeginObject();
  const auto column = [&](std::string_view key, int64_t FlatRow::*member) {
    json_.Column(key, routines_, [&](const FlatRow* row) { return row->*member; });
  };
  column("calls", &FlatRow::calls);
  column("calls_jitted", &FlatRow::calls_jitted);
  column("base", &FlatRow::base);
  column("cum", &FlatRow::cum);
  column("cum2", &FlatRow::cum2);
  column("elapsed", &FlatRow::elapsed);
  column("base_ticks", &FlatRow::base_ticks);
  column("cum_ticks", &FlatRow::cum_ticks);
  column("cum2_ticks", &FlatRow::cum2_ticks);
  column("samples", &FlatRow::samples);
  column("outside_calls", &FlatRow::outside_calls);
  column("outside_time", &FlatRow::outside_time);
  const auto extreme = [&](std::string_view key, int64_t FlatRow::*member) {
    json_.List(key, routines_, [&](const FlatRow* row) {
      row->has_extremes && !row->has_rough_extremes ? json_.Int(row->*member) : json_.Null();
    });
  };
  extreme("min", &FlatRow::min_base);
  extreme("max", &FlatRow::max_base);
  json_.EndObject();
}

void DataWriter::WritePruned() {
  json_.Key("pruned");
  json_.BeginObject();
  json_.Int("nodes", static_cast<int64_t>(page_.nodes_left_out()));
  json_.Text("heat", input_.measure().name);
  json_.Int("most", page_.heat_left_out());
  json_.EndObject();
}

}  // namespace

std::string PageTitle(const TraceModel& model) {
  if (model.traces().empty()) return "no trace";
  const TraceInfo& first = model.traces().front();
  const std::string_view command = first.Fact("command");
  std::string title = command.empty() ? std::filesystem::path(first.file).filename().string()
                                      : std::string(command);
  const size_t others = model.traces().size() - 1;
  if (others > 0) StrAppend(&title, " and ", others, others == 1 ? " other" : " others");
  return title;
}

void WritePageTraces(const TraceModel& model, JsonWriter& json) {
  json.List("traces", model.traces(), [&](const TraceInfo& trace) {
    json.BeginObject();
    json.Text("file", trace.file);
    json.List("facts", trace.facts, [&](const auto& fact) {
      json.BeginArray();
      json.Text(fact.first);
      json.Text(fact.second);
      json.EndArray();
    });
    json.Bool("cut_off", trace.cut_off);
    json.Bool("running", trace.running);
    json.EndObject();
  });
}

std::string PageData(const ReportInput& input, size_t max_nodes) {
  std::string data;
  DataWriter(input, max_nodes, data).Write();
  return data;
}

}  // namespace jtrace::postproc
