// The calling-context tree (FIG. 20).
#include <string_view>

#include "postproc/report/report.h"
#include "postproc/report/tree_text.h"
#include "postproc/report/tree_view.h"
#include "postproc/support/strings.h"

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

// Of the columns that every tree has.
void FillRow(const ReportInput& input, const TreeView& view, NodeId id, std::string_view thread,
             std::vector<Cell>& row) {
  const CallNode& node = input.tree.node(id);
  const NodeTotals& totals = input.totals()[id.value - 1];
  const RoutineTraits traits = input.model.TraitsOf(node.routine);
  row.clear();
  row.push_back(Cell::Text(thread));
  for (const int64_t number :
       {int64_t{node.level}, int64_t{totals.recursion_level}, node.calls, node.base, totals.cum,
        totals.elapsed(), node.base_ticks, totals.cum_ticks, node.samples}) {
    row.push_back(Cell::Int(number));
  }
  row.push_back(Cell::Text(OriginName(node.origin)));
  row.push_back(Cell::Text(view.NameWithSite(id)));
  for (const int64_t number : {node.calls_jitted, node.off, node.min_base, node.max_base}) {
    row.push_back(Cell::Int(number));
  }
  row.push_back(Cell::Text(node.routine ? RoutineKindName(traits.kind) : ""));
  row.push_back(Cell::Text(RoutineCostName(traits.cost)));
}

void PassRows(const ReportInput& input, Table::Visit visit) {
  const TreeView view(input, input.options.sort);
  std::string_view thread;
  std::vector<Cell> row;
  int64_t rows = 0;
  view.Walk(nullptr, [&](NodeId id) {
    const NodeOrigin origin = input.tree.origin(id);
    if (origin == NodeOrigin::kThread) thread = view.Name(id);
    if (IsFiltered(input, input.measure().Cum(id), input.measure().whole)) return true;
    FillRow(input, view, id, thread, row);
    AddMeasureCells(input, {input.measure().Base(id), input.measure().Cum(id)}, row);
    if (input.tree.has_places()) row.push_back(Cell::Text(view.Site(id)));
    return visit(row) && ++rows != input.options.top;
  });
}

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
  table.pass_rows = [&input](Table::Visit visit) { PassRows(input, visit); };
  return table;
}

void TreeText(const ReportInput& input, std::ostream& out) {
  // What a screen shows and a reader reads; smaller trees are shown whole.
  constexpr size_t kMostOnScreen = 1'000;
  constexpr int64_t kHeaviestOnScreen = 30;
  const ReportOptions& chosen = input.options;
  const bool is_cut = chosen.on_terminal && chosen.top == 0 && !chosen.filter_given &&
                      input.tree.size() > kMostOnScreen;
  TreeTextOptions options;
  options.filter_percent = chosen.filter_percent;
  options.heaviest = is_cut ? kHeaviestOnScreen : chosen.top;
  options.folds_chains = chosen.folds_chains;
  WriteTreeText(input, options, out);
  if (is_cut) {
    out << "--top=N or --filter=PERCENT shows more of the "
        << Counted(static_cast<int64_t>(input.tree.size()), "node")
        << "; --filter=0 or -o FILE all\n";
  }
}

}  // namespace

extern const Report kTreeReport = {
    .name = "tree",
    .group = ReportGroup::kRoutines,
    .summary = "calling-context tree: calls, time and ticks of every path",
    .example = "jtrace-post --report=tree --filter=1 trace.bin",
    .accepts = kAcceptsOfTree | kAcceptsSites,
    .if_empty = kNothingRecorded,
    .sorts_itself = true,
    .table = TreeTable,
    .text = TreeText,
};

}  // namespace jtrace::postproc
