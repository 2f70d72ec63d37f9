// A row for each thread, with its metrics; and metrics by thread or by routine (S5).
#include <algorithm>
#include <array>
#include <tuple>

#include "postproc/calltree/call_tree.h"
#include "postproc/report/report.h"
#include "postproc/report/thread_order.h"

namespace jtrace::postproc {
namespace {

// Totals by node: base of the whole subtree.
PrefixColumn<int64_t> MetricCum(const CallTree& tree, MetricId metric) {
  PrefixColumn<int64_t> cum = tree.MetricBase(metric);
  tree.AccumulateUpwards(cum.values());
  return cum;
}

// Ticks by thread and state, in separate columns if threads did more than run.
class StateTicks {
 public:
  explicit StateTicks(const ReportInput& input) : ticks_(input.model.thread_count()) {
    for (const LoggedSample& sample : input.samples.samples()) {
      const auto state = static_cast<size_t>(sample.state);
      used_[state] = true;
      if (!sample.thread) continue;
      int64_t& ticks = ticks_[sample.thread.value - 1][state];
      ticks = WrapAdd(ticks, sample.weight);
    }
    std::fill(used_.begin() + 1, used_.end(),
              std::find(used_.begin() + 1, used_.end(), true) != used_.end());
    used_[0] = used_[1];
  }

  void AddColumns(Table& table) const {
    for (size_t i = 0; i < kSampleStates; ++i) {
      if (!used_[i]) continue;
      table.columns.push_back(
          {std::string(SampleStateName(static_cast<SampleState>(i))), Style::kTicks, true});
    }
  }
  void AddCells(ThreadId thread, std::vector<Cell>& row) const {
    for (size_t i = 0; i < kSampleStates; ++i) {
      if (used_[i]) row.push_back(Cell::Int(ticks_[thread.value - 1][i]));
    }
  }

 private:
  std::vector<std::array<int64_t, kSampleStates>> ticks_;
  std::array<bool, kSampleStates> used_ = {};
};

int64_t CallsBelow(const ReportInput& input, const std::vector<int64_t>& calls, NodeId root) {
  return WrapSub(calls[root.value - 1], input.tree.node(root).calls);
}

Table MakeThreadsTable(const ReportInput& input, bool is_program_first) {
  Table table;
  table.columns = {Column{"thread"}.AsPlain(),     Column{"tid"}.Ranked(2),
                   {"calls", Style::kCount},       {"base", Style::kTime, true},
                   {"cum", Style::kTime, true},    {"elapsed", Style::kTime, true},
                   {"ticks", Style::kTicks, true}, {"samples", Style::kCount, true}};
  std::vector<PrefixColumn<int64_t>> metrics;
  for (const MetricId id : MetricsByName(input.model)) {
    table.columns.push_back({std::string(input.model.MetricName(id)),
                             StyleOf(InfoOfMetric(input.model.MetricName(id)).unit), false, 1});
    metrics.push_back(MetricCum(input.tree, id));
  }
  // The number of threads in the row; 0: it is one thread.
  table.columns.push_back({"folded_threads", Style::kCount, true});
  const StateTicks states(input);
  states.AddColumns(table);
  // Threads of several traces may have one name.
  table.columns.push_back({"trace", Style::kPlain, true});
  std::vector<int64_t> calls(input.tree.size());
  for (size_t i = 0; i < calls.size(); ++i) {
    calls[i] = input.tree.node(NodeId(static_cast<uint32_t>(i + 1))).calls;
  }
  input.tree.AccumulateUpwards(calls);

  std::vector<ThreadSummary> threads = input.threads;
  std::stable_sort(threads.begin(), threads.end(), [&](const auto& a, const auto& b) {
    const int64_t measure_a = input.measure().Cum(a.root);
    const int64_t measure_b = input.measure().Cum(b.root);
    if (input.measure().is_chosen && measure_a != measure_b) return measure_a > measure_b;
    const NodeTotals& totals_a = input.totals()[a.root.value - 1];
    const NodeTotals& totals_b = input.totals()[b.root.value - 1];
    return std::tie(totals_a.cum, totals_a.cum_ticks) > std::tie(totals_b.cum, totals_b.cum_ticks);
  });
  if (is_program_first) PutProgramFirst(input, threads);
  for (const ThreadSummary& thread : threads) {
    const ThreadInfo& info = input.model.thread(thread.thread);
    const NodeTotals& totals = input.totals()[thread.root.value - 1];
    std::vector<Cell> row = {Cell::Text(info.name),
                             Cell::Int(info.tid),
                             Cell::Int(CallsBelow(input, calls, thread.root)),
                             Cell::Int(input.tree.node(thread.root).base),
                             Cell::Int(totals.cum),
                             Cell::Int(totals.elapsed()),
                             Cell::Int(totals.cum_ticks),
                             Cell::Int(thread.samples)};
    for (const auto& metric : metrics) row.push_back(Cell::Int(metric[thread.root.value - 1]));
    row.push_back(Cell::Int(info.folded_threads));
    states.AddCells(thread.thread, row);
    const auto& traces = input.model.traces();
    row.push_back(traces.size() > 1 ? Cell::Text(traces[info.trace].file) : Cell::Empty());
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table MetricByThread(const ReportInput& input, bool is_program_first) {
  Table table;
  table.columns = {Column{"thread"}.AsPlain(), {"metric"}, {"unit"}, {"total", Style::kCount}};
  std::vector<ThreadSummary> threads = input.threads;
  if (is_program_first) PutProgramFirst(input, threads);
  for (const MetricId id : MetricsByName(input.model)) {
    const PrefixColumn<int64_t> cum = MetricCum(input.tree, id);
    const std::string_view name = input.model.MetricName(id);
    const MetricUnit unit = InfoOfMetric(name).unit;
    for (const ThreadSummary& thread : threads) {
      const int64_t total = cum[thread.root.value - 1];
      if (total == 0) continue;
      table.rows.push_back({Cell::Text(input.model.thread(thread.thread).name), Cell::Text(name),
                            Cell::Text(MetricUnitName(unit)), Cell::Int(total, StyleOf(unit))});
    }
  }
  return table;
}

void WriteSorted(const ReportInput& input, Table table, std::ostream& out) {
  SortAsWanted(input, table);
  LimitRows(table, input.options.top);
  WriteText(table, input.layout(), out);
}

Table ThreadsTable(const ReportInput& input) { return MakeThreadsTable(input, false); }

void ThreadsText(const ReportInput& input, std::ostream& out) {
  WriteSorted(input, MakeThreadsTable(input, true), out);
}

Table MetricsTable(const ReportInput& input) {
  if (!input.measure().is_chosen) return MetricByThread(input, false);
  const Style style = StyleOf(input.measure());
  Table table;
  table.columns = {{"routine"}, {"base", style}, {"cum", style}, {"cum2", style}};
  const std::vector<FlatRow>& rows = input.flat().rows();
  std::vector<uint32_t> order = input.flat().Sorted();
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return std::tie(rows[b].measure.cum, rows[a].name) <
           std::tie(rows[a].measure.cum, rows[b].name);
  });
  for (const uint32_t index : order) {
    const MeasureSums& sums = rows[index].measure;
    if (sums.cum2 == 0 && sums.base == 0) continue;
    table.rows.push_back({Cell::Text(rows[index].name), Cell::Int(sums.base), Cell::Int(sums.cum),
                          Cell::Int(sums.cum2)});
  }
  return table;
}

void MetricsText(const ReportInput& input, std::ostream& out) {
  WriteSorted(input, input.measure().is_chosen ? MetricsTable(input) : MetricByThread(input, true),
              out);
}

}  // namespace

extern const Report kThreadsReport = {
    .name = "threads",
    .group = ReportGroup::kThreads,
    .summary = "a row for each thread",
    .example = "jtrace-post --report=threads trace.bin",
    .accepts = kAcceptsOfTree,
    .if_empty = kNothingRecorded,
    .table = ThreadsTable,
    .text = ThreadsText,
};

extern const Report kMetricsReport = {
    .name = "metrics",
    .group = ReportGroup::kThreads,
    .summary = "metric totals by thread; with --metric, by routine",
    .example = "jtrace-post --report=metrics --metric=alloc.bytes trace.bin",
    .accepts = (kAcceptsOfTree & ~kAcceptsRoot) | kAcceptsMethodCosts,
    .if_empty = "no metrics; metrics= records them, e.g. metrics=alloc.bytes",
    .table = MetricsTable,
    .text = MetricsText,
};

}  // namespace jtrace::postproc
