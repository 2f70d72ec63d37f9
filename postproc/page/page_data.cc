#include "postproc/page/page_data.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <vector>

#include "common/jdk_packages.h"
#include "common/json_writer.h"
#include "postproc/calltree/group_name.h"
#include "postproc/page/page_findings.h"
#include "postproc/page/page_headline.h"
#include "postproc/page/page_sources.h"
#include "postproc/page/page_timeline.h"
#include "postproc/page/page_times.h"
#include "postproc/report/frame_kinds.h"
#include "postproc/report/summary_totals.h"
#include "postproc/support/strings.h"
#include "postproc/version.h"

namespace jtrace::postproc {
namespace {

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
