#include "postproc/diff/diff_page.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "common/jdk_packages.h"
#include "common/json_writer.h"
#include "postproc/diff/diff_report.h"
#include "postproc/diff/diff_tree.h"
#include "postproc/page/page_data.h"
#include "postproc/page/page_report.h"
#include "postproc/report/frame_kinds.h"
#include "postproc/version.h"

namespace jtrace::postproc {
namespace {

constexpr double kMillionths = 1e6;

class DiffDataWriter {
 public:
  DiffDataWriter(const ProfileDiff& diff, const ReportInput& before, const ReportInput& after,
                 std::string& out)
      : diff_(diff), before_(before), after_(after), tree_(before, after), json_(out) {}

  void Write(absl::Span<const std::string> broken, size_t max_nodes);

 private:
  void WriteHead(absl::Span<const std::string> broken);
  void WriteSide(const ReportInput& side);
  void WriteTotals();
  void WriteRoutines();
  void WriteNodes(const DiffPageTree& page);
  void WriteMeasure(const DiffMeasure& measure, const DiffPageTree& page);
  // By routine of the page.
  struct RoutineSums {
    std::vector<int64_t> self;
    std::vector<int64_t> total;
  };
  RoutineSums OfRoutines(const ReportInput& input, const Measure& measure) const;

  const ProfileDiff& diff_;
  const ReportInput& before_;
  const ReportInput& after_;
  const DiffTree tree_;
  JsonWriter json_;
  absl::flat_hash_map<std::string_view, uint32_t> number_;  // by name: index in diff_.rows
};

void DiffDataWriter::Write(absl::Span<const std::string> broken, size_t max_nodes) {
  for (uint32_t i = 0; i < diff_.rows.size(); ++i) number_[diff_.rows[i].name] = i;
  const std::vector<std::string> measures = tree_.Measures();
  const auto heat = std::find(measures.begin(), measures.end(), after_.measure().name);
  const DiffPageTree page(tree_, tree_.MeasureOf(heat == measures.end() ? measures.front() : *heat),
                          max_nodes);
  json_.BeginObject();
  WriteHead(broken);
  WriteTotals();
  WriteRoutines();
  WriteNodes(page);
  json_.List("measures", measures,
             [&](const std::string& name) { WriteMeasure(tree_.MeasureOf(name), page); });
  json_.EndObject();
}

void DiffDataWriter::WriteHead(absl::Span<const std::string> broken) {
  json_.Int("format", kPageDataFormat);
  json_.Text("kind", "diff");
  json_.Text("version", kVersion);
  json_.Text("title", PageTitle(after_.model));
  json_.Text("unit", TimeUnitName(after_.model.unit()));
  json_.Int("ns_per_unit", NanosecondsPer(after_.model.unit()));
  const int64_t tick = after_.model.interval_ns();
  json_.Int("tick_ns", tick != 0 ? tick : before_.model.interval_ns());
  json_.Key("sides");
  json_.BeginArray();
  WriteSide(before_);
  WriteSide(after_);
  json_.EndArray();
  json_.List("warnings", RecordedOtherwise(before_, after_),
             [&](const std::string& line) { json_.Text(line); });
  json_.List("broken", broken, [&](const std::string& line) { json_.Text(line); });
}

void DiffDataWriter::WriteSide(const ReportInput& side) {
  json_.BeginObject();
  json_.Text("title", PageTitle(side.model));
  json_.Int("duration", WrapSub(side.last_time, side.first_time));
  WritePageTraces(side.model, json_);
  json_.EndObject();
}

void DiffDataWriter::WriteTotals() {
  json_.List("totals", TotalLines(diff_, after_), [&](const TotalLine& line) {
    json_.BeginObject();
    json_.Text("what", line.what);
    json_.Text("before", line.before);
    json_.Text("after", line.after);
    json_.Text("growth", line.growth);
    json_.EndObject();
  });
  json_.Text("states", DescribeStates(diff_));
  json_.Int("tick_variance_before", std::llround(VariancePerTick(before_) * kMillionths));
  json_.Int("tick_variance_after", std::llround(VariancePerTick(after_) * kMillionths));
}

void DiffDataWriter::WriteRoutines() {
  std::string kinds(diff_.rows.size(), 'm');
  for (const ReportInput* side : {&before_, &after_}) {
    const std::vector<char> by_routine = FrameKinds(*side);
    for (const FlatRow& row : side->flat().rows()) {
      if (!row.is_root) kinds[number_.at(row.name)] = by_routine[row.routine.value];
    }
  }
  std::string states;
  std::string significant;
  std::string owners;
  for (size_t i = 0; i < diff_.rows.size(); ++i) {
    const DiffRow& row = diff_.rows[i];
    const bool is_java = std::string_view("JCIEcn").find(kinds[i]) != std::string_view::npos;
    states += DiffStateName(row.state).front();
    // "same" and "changed", "appeared" and "vanished" begin with different letters.
    significant += row.is_significant() ? '1' : '0';
    owners += is_java && IsJdkClass(row.name) ? 'j' : '-';
  }
  json_.List("routines", diff_.rows, [&](const DiffRow& row) { json_.Text(row.name); });
  json_.Text("kinds", kinds);
  json_.Text("owners", owners);
  json_.Text("changes", states);
  json_.Text("significant", significant);
}

void DiffDataWriter::WriteNodes(const DiffPageTree& page) {
  json_.Key("nodes");
  json_.BeginObject();
  json_.Column("level", page.nodes(), [](const DiffPageNode& node) { return node.level; });
  // As in other pages: the root's number follows those of the routines; -1: a [pruned] node.
  json_.Column("name", page.nodes(), [&](const DiffPageNode& node) -> int64_t {
    if (node.is_pruned) return -1;
    if (node.level == 0) return static_cast<int64_t>(diff_.rows.size());
    return number_.at(tree_.names()[tree_.nodes()[node.source].name]);
  });
  json_.EndObject();
  json_.Int("nodes_in_all", static_cast<int64_t>(tree_.nodes().size()));
  json_.Int("nodes_left_out", static_cast<int64_t>(page.left_out()));
}

DiffDataWriter::RoutineSums DiffDataWriter::OfRoutines(const ReportInput& input,
                                                       const Measure& measure) const {
  RoutineSums sums{std::vector<int64_t>(diff_.rows.size()),
                   std::vector<int64_t>(diff_.rows.size())};
  const FlatProfile flat(input.model, input.tree, input.totals(), measure);
  for (const FlatRow& row : flat.rows()) {
    if (row.is_root) continue;
    const uint32_t number = number_.at(row.name);
    sums.self[number] = WrapAdd(sums.self[number], row.measure.base);
    sums.total[number] = WrapAdd(sums.total[number], row.measure.cum);
  }
  return sums;
}

void DiffDataWriter::WriteMeasure(const DiffMeasure& measure, const DiffPageTree& page) {
  const auto column = [&](std::string_view key, const std::vector<int64_t>& values) {
    json_.Column(key, values, [](int64_t value) { return value; });
  };
  json_.BeginObject();
  json_.Text("name", measure.after.name);
  json_.Bool("is_metric", measure.after.kind == Measure::Kind::kMetric);
  json_.Text("unit", MetricUnitName(measure.after.unit));
  const DiffSums nodes = tree_.SumUp(measure, page.entries(), page.nodes().size());
  column("before", nodes.before);
  column("after", nodes.after);
  const RoutineSums before = OfRoutines(before_, measure.before);
  const RoutineSums after = OfRoutines(after_, measure.after);
  column("self_before", before.self);
  column("self_after", after.self);
  column("total_before", before.total);
  column("total_after", after.total);
  json_.EndObject();
}

}  // namespace

std::string DiffPageData(const ProfileDiff& diff, const ReportInput& before,
                         const ReportInput& after, absl::Span<const std::string> broken,
                         size_t max_nodes) {
  std::string data;
  DiffDataWriter(diff, before, after, data).Write(broken, max_nodes);
  return data;
}

void DiffPage(const ProfileDiff& diff, const ReportInput& before, const ReportInput& after,
              absl::Span<const std::string> broken, std::ostream& out) {
  WritePage(DiffPageData(diff, before, after, broken), out);
}

}  // namespace jtrace::postproc
