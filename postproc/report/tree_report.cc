// The calling-context tree (FIG. 20).
#include <string_view>

#include "postproc/report/report.h"
#include "postproc/report/tree_text.h"
#include "postproc/report/tree_view.h"

namespace jtrace::postproc {
namespace {

std::string_view OriginName(NodeOrigin origin) {
  switch (origin) {
    case NodeOrigin::kThread:
      return "thread";
    case NodeOrigin::kEvent:
      return "event";
    case NodeOrigin::kSample:
      return "sample";
  }
  return "";
}

}  // namespace

Table TreeTable(const ReportInput& input) {
  Table table;
  table.columns = {{"thread"},
                   {"level"},
                   {"rl"},
                   {"calls", Style::kCount},
                   {"base", Style::kTime},
                   {"cum", Style::kTime},
                   {"elapsed", Style::kTime},
                   {"base_ticks", Style::kTicks},
                   {"cum_ticks", Style::kTicks},
                   {"samples", Style::kCount},
                   {"origin"},
                   {"name"},
                   {"calls_jitted", Style::kCount},
                   {"off", Style::kTime},
                   {"min_base", Style::kTime},
                   {"max_base", Style::kTime},
                   {"kind"},
                   {"cost"}};
  AddMeasureColumns(input, MeasureColumns::kBaseCum, table);
  if (input.tree.has_places()) table.columns.push_back({"site"});
  const TreeView view(input, input.options.sort);
  std::string_view thread;
  for (const NodeId id : view.DepthFirst()) {
    const CallNode& node = input.tree.node(id);
    const NodeTotals& totals = input.totals[id.value - 1];
    if (node.origin == NodeOrigin::kThread) thread = input.model.thread(node.thread).name;
    if (IsFiltered(input, input.measure.Cum(id), input.measure.whole)) continue;
    const RoutineTraits traits = input.model.TraitsOf(node.routine);
    table.rows.push_back({Cell::Text(thread), Cell::Int(node.level),
                          Cell::Int(totals.recursion_level), Cell::Int(node.calls),
                          Cell::Int(node.base), Cell::Int(totals.cum), Cell::Int(totals.elapsed()),
                          Cell::Int(node.base_ticks), Cell::Int(totals.cum_ticks),
                          Cell::Int(node.samples), Cell::Text(OriginName(node.origin)),
                          Cell::Text(view.NameWithSite(id)), Cell::Int(node.calls_jitted),
                          Cell::Int(node.off), Cell::Int(node.min_base), Cell::Int(node.max_base),
                          Cell::Text(node.routine ? RoutineKindName(traits.kind) : ""),
                          Cell::Text(RoutineCostName(traits.cost))});
    AddMeasureCells(input, {input.measure.Base(id), input.measure.Cum(id)}, table.rows.back());
    if (input.tree.has_places()) table.rows.back().push_back(Cell::Text(view.Site(id)));
  }
  LimitRows(table, input.options.top);
  return table;
}

void TreeText(const ReportInput& input, std::ostream& out) {
  TreeTextOptions options;
  options.filter_percent = input.options.filter_percent;
  options.heaviest = input.options.top;
  options.folds_chains = input.options.folds_chains;
  WriteTreeText(input, options, out);
}

}  // namespace jtrace::postproc
