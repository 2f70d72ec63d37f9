// The arcs of the call graph as a table (S4.9–S4.11).
#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_format.h"
#include "postproc/graph/call_graph.h"
#include "postproc/graph/graph_reports.h"
#include "postproc/model/path_step.h"
#include "postproc/report/shorten.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

double ChooseFilter(const ReportInput& input, const GraphSource& source) {
  if (input.options.filter_given) return input.options.filter_percent;
  const std::vector<SelfAndTotal> costs = CostOfRoutines(source);
  std::vector<int64_t> totals;
  for (size_t row = 0; row < costs.size(); ++row) {
    if (!source.flat.rows()[row].is_root) totals.push_back(costs[row].total);
  }
  return FirstTimeFilter(std::move(totals), source.measure.whole);
}

std::string_view RecursionName(Recursion recursion) {
  switch (recursion) {
    case Recursion::kNone:
      return "";
    case Recursion::kSelf:
      return "self";
    case Recursion::kBack:
      return "back";
    case Recursion::kPartly:
      return "partly";
  }
  return "";
}

// "a.A.f():120", "" if it is unknown.
std::string SiteOf(const CallGraph& graph, const GraphArc& arc) {
  if (arc.place == kNoCallSite) return "";
  return StrCat(graph.Name(graph.nodes()[arc.caller]), PlaceText(arc.place));
}

}  // namespace

GraphOfReport MakeCallGraph(const ReportInput& input) {
  const GraphSource source{input.tree, input.totals(), input.flat(), input.measure()};
  const double filter = ChooseFilter(input, source);
  return {CallGraph(source, filter), filter};
}

std::string DescribeGraph(const ReportInput& input, const GraphOfReport& graph) {
  const CallGraph::Collapsed& collapsed = graph.graph.collapsed();
  const int64_t shown = static_cast<int64_t>(graph.graph.nodes().size()) - 1;
  const int64_t all = shown + collapsed.routines;
  std::string text = absl::StrFormat("%s of %s routine%s", FormatCount(shown), FormatCount(all),
                                     all == 1 ? "" : "s");
  if (graph.filter_percent > 0) {
    absl::StrAppendFormat(&text, ", those with at least %.4g %% of %s", graph.filter_percent,
                          FormatMeasure(input, graph.graph.whole()));
    if (!input.measure().is_more_than_calls()) text += " calls";
    if (input.measure().is_chosen) StrAppend(&text, " (", input.measure().name, ")");
  }
  if (collapsed.routines > 0) {
    absl::StrAppendFormat(&text,
                          "; %s %s collapsed into their callers (%s of the whole, %s call%s)",
                          FormatCount(collapsed.routines), collapsed.routines == 1 ? "is" : "are",
                          FormatPercent(PercentOf(collapsed.self, graph.graph.whole())),
                          FormatCount(collapsed.calls), collapsed.calls == 1 ? "" : "s");
  }
  return text;
}

namespace {

Table GraphTable(const ReportInput& input) {
  const GraphOfReport of = MakeCallGraph(input);
  const CallGraph& graph = of.graph;
  const Style style = StyleOf(input.measure());
  Table table;
  table.columns = {{"caller"},
                   {"callee"},
                   {"calls", Style::kCount},
                   {"calls_collapsed", Style::kCount},
                   {"total", style},
                   {"total2", style},
                   {"inclusive", style},
                   {"share"},
                   {"width"},
                   {"recursion"},
                   {"unit"},
                   {"self", style},
                   {"self_share"}};
  const bool has_places = input.tree.has_places();
  if (has_places) table.columns.push_back({"site"});
  const std::vector<double> widths =
      graph.Widths(input.options.widths, input.options.widths_by_self);
  for (size_t i = 0; i < graph.arcs().size(); ++i) {
    const GraphArc& arc = graph.arcs()[i];
    table.rows.push_back(
        {Cell::Text(graph.Name(graph.nodes()[arc.caller])),
         Cell::Text(graph.Name(graph.nodes()[arc.callee])), Cell::Int(arc.calls),
         Cell::Int(arc.calls_collapsed), Cell::Int(arc.total), Cell::Int(arc.total2),
         Cell::Int(arc.inclusive), Cell::Percent(100 * graph.Share(arc)), Cell::Percent(widths[i]),
         Cell::Text(RecursionName(arc.recursion)), Cell::Text(input.measure().name),
         Cell::Int(arc.self), Cell::Percent(100 * graph.SelfShare(arc))});
    if (has_places) table.rows.back().push_back(Cell::Text(SiteOf(graph, arc)));
  }
  return table;
}

// Both names share the rest of the line. `link`: what is between them.
std::string ArcNames(std::string_view caller, std::string_view raw_callee, std::string_view link,
                     int room) {
  const std::string callee = Printable(raw_callee);
  if (room <= 0) return StrCat(Printable(caller), link, callee);
  room = std::max(room - DisplayWidth(link), 32);
  const int callers = std::max(room / 2, room - DisplayWidth(callee));
  const std::string first = ShortenName(caller, callers);
  return StrCat(first, link, ShortenName(callee, room - DisplayWidth(first)));
}

void GraphText(const ReportInput& input, std::ostream& out) {
  const GraphOfReport of = MakeCallGraph(input);
  const CallGraph& graph = of.graph;
  out << Wrapped(Printable(DescribeGraph(input, of)), input.options.width);
  if (input.options.widths_by_self) out << "widths by the self time of callees\n";
  const int unit_width = StyleOf(input.measure()) == Style::kCount ? 17 : 10;
  const bool of_calls = input.measure().kind == Measure::Kind::kCalls;
  out << " share" << PadLeft(of_calls ? "with callees" : "total", unit_width + 1)
      << "            calls  width  caller → callee, ↻ recursive\n";
  const std::vector<double> widths =
      graph.Widths(input.options.widths, input.options.widths_by_self);
  size_t rows = graph.arcs().size();
  if (input.options.top > 0) rows = std::min(rows, static_cast<size_t>(input.options.top));
  for (size_t i = 0; i < rows; ++i) {
    const GraphArc& arc = graph.arcs()[i];
    std::string line = StrCat(PadLeft(FormatPercent(100 * graph.Share(arc)), 7),
                              PadLeft(FormatMeasure(input, arc.inclusive), unit_width),
                              PadLeft(arc.calls == 0 ? "" : FormatCount(arc.calls), 17),
                              absl::StrFormat("%7.1f  ", widths[i]));
    const int room = input.options.width > 0 ? input.options.width - DisplayWidth(line) : 0;
    const std::string link =
        StrCat(PlaceText(arc.place), arc.recursion == Recursion::kNone ? " → " : " ↻ ");
    line += ArcNames(graph.Name(graph.nodes()[arc.caller]), graph.Name(graph.nodes()[arc.callee]),
                     link, room);
    out << line << '\n';
  }
}

}  // namespace

extern const Report kGraphReport = {
    .name = "graph",
    .group = ReportGroup::kTools,
    .summary = "the call graph's arcs: calls, share, width; rarely used routines collapsed",
    .example = "jtrace-post --report=graph --filter=2 trace.bin",
    .accepts = kAcceptsOfTree | kAcceptsSites | kAcceptsWidthBy,
    .table = GraphTable,
    .text = GraphText,
};

}  // namespace jtrace::postproc
