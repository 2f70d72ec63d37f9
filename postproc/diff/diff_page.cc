#include "postproc/diff/diff_page.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "common/jdk_packages.h"
#include "common/json_writer.h"
#include "postproc/diff/diff_report.h"
#include "postproc/page/page_data.h"
#include "postproc/page/page_report.h"
#include "postproc/report/program_code.h"
#include "postproc/support/strings.h"
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

namespace {

void AddMissing(const std::vector<std::string>& from, std::vector<std::string>& names) {
  for (const std::string& name : from) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
}

// Of values without callees those with them.
void AddCallees(const DiffTree& tree, std::vector<int64_t>& values) {
  for (size_t i = values.size(); i-- > 1;) {
    int64_t& above = values[tree.nodes()[i].parent];
    above = WrapAdd(above, values[i]);
  }
}

std::vector<uint32_t> UpTo(size_t count) {
  std::vector<uint32_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

std::vector<int64_t> SumsOf(const ReportInput& input, const Measure& measure,
                            const std::vector<uint32_t>& node_of,
                            absl::Span<const uint32_t> group_of, size_t groups) {
  std::vector<int64_t> sums(groups);
  for (uint32_t i = 0; i < node_of.size(); ++i) {
    if (!input.tree.node(NodeId(i + 1)).parent) continue;
    int64_t& sum = sums[group_of[node_of[i]]];
    sum = WrapAdd(sum, measure.base[i]);
  }
  return sums;
}

}  // namespace

DiffTree::DiffTree(const ReportInput& before, const ReportInput& after)
    : before_(before), after_(after) {
  nodes_.push_back({});
  of_before_ = Add(before);
  of_after_ = Add(after);
  children_ = {};
  numbers_ = {};
}

uint32_t DiffTree::NameOf(std::string_view name) {
  const auto [entry, is_new] =
      numbers_.try_emplace(std::string(name), static_cast<uint32_t>(names_.size()));
  if (is_new) names_.emplace_back(name);
  return entry->second;
}

uint32_t DiffTree::Child(uint32_t parent, uint32_t name) {
  const auto [entry, is_new] =
      children_.try_emplace(uint64_t{parent} << 32 | name, static_cast<uint32_t>(nodes_.size()));
  if (is_new) nodes_.push_back({parent, name});
  return entry->second;
}

std::vector<uint32_t> DiffTree::Add(const ReportInput& input) {
  std::vector<uint32_t> node_of(input.tree.size());
  for (uint32_t i = 0; i < node_of.size(); ++i) {
    const CallNode& node = input.tree.node(NodeId(i + 1));
    if (!node.parent) continue;  // a thread's root is node 0
    const FlatRow& row = input.flat().rows()[input.flat().RowOf(NodeId(i + 1))];
    node_of[i] = Child(node_of[node.parent.value - 1], NameOf(row.name));
  }
  return node_of;
}

std::vector<std::string> DiffTree::Measures() const {
  std::vector<std::string> names = MeasureNames(before_.model, before_.tree);
  AddMissing(MeasureNames(after_.model, after_.tree), names);
  return names;
}

DiffMeasure DiffTree::MeasureOf(std::string_view name) const {
  return {MakeMeasure(name, before_.model, before_.tree),
          MakeMeasure(name, after_.model, after_.tree)};
}

DiffSums DiffTree::SumUp(const DiffMeasure& measure, absl::Span<const uint32_t> group_of,
                         size_t groups) const {
  return {SumsOf(before_, measure.before, of_before_, group_of, groups),
          SumsOf(after_, measure.after, of_after_, group_of, groups)};
}

DiffPageTree::DiffPageTree(const DiffTree& tree, const DiffMeasure& heat, size_t limit) {
  const size_t size = tree.nodes().size();
  keeper_ = UpTo(size);
  {
    DiffSums sums = tree.SumUp(heat, keeper_, size);
    AddCallees(tree, sums.before);
    AddCallees(tree, sums.after);
    for (size_t i = 0; i < size; ++i) sums.before[i] = std::max(sums.before[i], sums.after[i]);
    heat_ = std::move(sums.before);
  }
  // Each node that stays may get one [pruned] node.
  if (keeper_.size() > limit) Choose(tree, std::max<size_t>(limit / 2, 1));
  Append(tree);
  heat_ = {};
  keeper_ = {};
}

void DiffPageTree::Choose(const DiffTree& tree, size_t limit) {
  std::vector<uint32_t> order = UpTo(keeper_.size());
  // Of equally hot nodes the parent is first, because its number is smaller.
  std::stable_sort(order.begin() + 1, order.end(),
                   [&](uint32_t a, uint32_t b) { return heat_[a] > heat_[b]; });
  std::vector<bool> is_hot(keeper_.size());
  for (size_t i = 0; i < limit; ++i) is_hot[order[i]] = true;
  for (uint32_t i = 1; i < keeper_.size(); ++i) {
    const uint32_t parent = tree.nodes()[i].parent;
    if (is_hot[i] && keeper_[parent] == parent) continue;
    keeper_[i] = keeper_[parent];
    ++left_out_;
  }
}

void DiffPageTree::Append(const DiffTree& tree) {
  // Of nodes that stay: there are few of them.
  absl::flat_hash_map<uint32_t, std::vector<uint32_t>> children;
  std::vector<bool> loses(keeper_.size());
  for (uint32_t i = 1; i < keeper_.size(); ++i) {
    if (keeper_[i] == i)
      children[tree.nodes()[i].parent].push_back(i);
    else
      loses[keeper_[i]] = true;
  }
  entry_.resize(keeper_.size());
  absl::flat_hash_map<uint32_t, uint32_t> pruned;
  std::vector<std::pair<uint32_t, uint32_t>> pending = {{0, 0}};
  while (!pending.empty()) {
    const auto [node, level] = pending.back();
    pending.pop_back();
    entry_[node] = static_cast<uint32_t>(nodes_.size());
    nodes_.push_back({node, level, false});
    if (loses[node]) {
      pruned[node] = static_cast<uint32_t>(nodes_.size());
      nodes_.push_back({node, level + 1, true});
    }
    std::vector<uint32_t>& below = children[node];
    std::sort(below.begin(), below.end(), [&](uint32_t a, uint32_t b) {
      if (heat_[a] != heat_[b]) return heat_[a] < heat_[b];
      return tree.names()[tree.nodes()[a].name] > tree.names()[tree.nodes()[b].name];
    });
    for (const uint32_t child : below) pending.emplace_back(child, level + 1);
  }
  for (uint32_t i = 0; i < entry_.size(); ++i) {
    if (keeper_[i] != i) entry_[i] = pruned.at(keeper_[i]);
  }
}

}  // namespace jtrace::postproc
