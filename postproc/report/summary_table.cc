// The summary as a table of keys and values.
#include "postproc/report/hook_totals.h"
#include "postproc/report/report.h"
#include "postproc/report/summary_totals.h"
#include "postproc/support/strings.h"
#include "proto/trace_format.h"

namespace jtrace::postproc {

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
  const InvariantCheck check = input.arcs.Check();
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

}  // namespace jtrace::postproc
