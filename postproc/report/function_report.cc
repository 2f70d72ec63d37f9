// The routines that --of names: callers, self, callees, with their shares (S4.3, S4.8).
#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "postproc/model/path_step.h"
#include "postproc/report/report.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

// The values of an arc. Time, ticks and the measure count each moment once, however often the arc
// is on the stack: no share exceeds the whole.
struct ArcSum {
  uint32_t other = 0;            // row of the FlatProfile
  CallSite place = kNoCallSite;  // in the caller
  int64_t calls = 0;
  int64_t cum = 0;
  int64_t cum_ticks = 0;
  int64_t measure = 0;  // cum
  // Self time of one call of the one that is called.
  int64_t min_base = 0;
  int64_t max_base = 0;
  bool has_extremes = false;
  bool has_rough_extremes = false;
  int64_t open = 0;  // while the tree is walked: how often the arc is on the path
};

class ArcSums {
 public:
  // A node that was called over the arc: nodes below it count until Leave.
  void Enter(uint32_t other, const CallNode& node, const NodeTotals& totals, int64_t measure) {
    const auto [entry, is_new] = index_.try_emplace({other, node.place}, sums_.size());
    if (is_new) sums_.push_back({.other = other, .place = node.place});
    ArcSum& sum = sums_[entry->second];
    sum.calls = WrapAdd(sum.calls, node.calls);
    MergeExtremes(node, sum);
    if (sum.open++ > 0) return;
    sum.cum = WrapAdd(sum.cum, totals.cum);
    sum.cum_ticks = WrapAdd(sum.cum_ticks, totals.cum_ticks);
    sum.measure = WrapAdd(sum.measure, measure);
  }
  void Leave(uint32_t other, const CallNode& node) { --sums_[index_.at({other, node.place})].open; }

  // By the measure if --metric chose it, total, ticks and calls descending.
  std::vector<ArcSum> Sorted(bool by_measure) const {
    std::vector<ArcSum> sorted = sums_;
    std::stable_sort(sorted.begin(), sorted.end(), [by_measure](const ArcSum& a, const ArcSum& b) {
      if (by_measure && a.measure != b.measure) return a.measure > b.measure;
      return std::tuple(a.cum, a.cum_ticks, a.calls) > std::tuple(b.cum, b.cum_ticks, b.calls);
    });
    return sorted;
  }

 private:
  absl::flat_hash_map<std::pair<uint32_t, CallSite>, size_t> index_;
  std::vector<ArcSum> sums_;  // by first appearance
};

// Callers and callees of one routine, from one walk through the tree.
class Neighbours {
 public:
  Neighbours(const ReportInput& input, uint32_t self) : input_(input), self_(self) {
    for (const NodeId root : input.tree.roots()) Walk(root);
  }
  std::vector<ArcSum> callers() const { return callers_.Sorted(input_.measure().is_chosen); }
  std::vector<ArcSum> callees() const { return callees_.Sorted(input_.measure().is_chosen); }

 private:
  // Trees may be deep: no recursion.
  void Walk(NodeId root) {
    NodeId at = root;
    while (at) {
      Enter(at);
      if (const NodeId child = input_.tree.node(at).first_child) {
        at = child;
        continue;
      }
      while (at && !input_.tree.node(at).next_sibling) {
        Leave(at);
        at = at == root ? NodeId() : input_.tree.node(at).parent;
      }
      if (!at) return;
      Leave(at);
      at = at == root ? NodeId() : input_.tree.node(at).next_sibling;
    }
  }
  void Enter(NodeId id) {
    const CallNode& node = input_.tree.node(id);
    if (!node.parent) return;
    const NodeTotals& totals = input_.totals()[id.value - 1];
    const int64_t measure = input_.measure().Cum(id);
    if (Row(id) == self_) callers_.Enter(Row(node.parent), node, totals, measure);
    if (Row(node.parent) == self_) callees_.Enter(Row(id), node, totals, measure);
  }
  void Leave(NodeId id) {
    const CallNode& node = input_.tree.node(id);
    if (!node.parent) return;
    if (Row(id) == self_) callers_.Leave(Row(node.parent), node);
    if (Row(node.parent) == self_) callees_.Leave(Row(id), node);
  }
  uint32_t Row(NodeId id) const { return input_.flat().RowOf(id); }

  const ReportInput& input_;
  const uint32_t self_;
  ArcSums callers_;
  ArcSums callees_;
};

Cell Share(int64_t part, int64_t whole) {
  return whole == 0 ? Cell::Empty() : Cell::Percent(PercentOf(part, whole));
}

// "a.A.f():120", "" if it is unknown.
std::string SiteOf(std::string_view caller, const ArcSum& arc) {
  return arc.place == kNoCallSite ? "" : StrCat(caller, PlaceText(arc.place));
}

// Of the other routine; with a site that of the call: "a.A.f():120 > a.B.g()".
std::string ArcName(const std::string& site, std::string_view other, std::string_view callee) {
  return site.empty() ? std::string(other) : StrCat(site, " > ", callee);
}

// Shares are of the routine's own values: of its calls for callers, of its total for both.
std::vector<Cell> ArcRow(const ReportInput& input, const FlatRow& self, const ArcSum& arc,
                         bool is_caller) {
  const bool rough = arc.has_rough_extremes;
  const std::string_view other = input.flat().rows()[arc.other].name;
  const std::string site = SiteOf(is_caller ? other : self.name, arc);
  std::vector<Cell> row = {Cell::Text(is_caller ? "caller" : "callee"),
                           Cell::Int(arc.calls),
                           is_caller ? Share(arc.calls, self.calls) : Cell::Empty(),
                           Cell::Empty(),
                           Cell::Int(arc.cum),
                           Share(arc.cum, self.cum),
                           Cell::Empty(),
                           Cell::Int(arc.cum_ticks),
                           Share(arc.cum_ticks, self.cum_ticks),
                           is_caller ? LeastCell(arc, rough) : Cell::Empty(),
                           is_caller ? MostCell(arc, rough) : Cell::Empty(),
                           Cell::Text(ArcName(site, other, is_caller ? self.name : other))};
  row.insert(row.end(), 2, Cell::Empty());  // AddOutsideCells
  AddMeasureCells(input, {std::nullopt, arc.measure}, row);
  if (input.measure().is_chosen) row.push_back(Share(arc.measure, self.measure.cum));
  if (input.tree.has_places()) row.push_back(Cell::Text(site));
  return row;
}

std::vector<Cell> FunctionRow(const ReportInput& input, const FlatRow& self) {
  const bool rough = self.has_bounds || self.has_rough_extremes;
  std::vector<Cell> row = {
      Cell::Text("self"),         Cell::Int(self.calls),     Cell::Empty(),
      Cell::Int(self.base),       Cell::Int(self.cum),       Cell::Empty(),
      Cell::Int(self.base_ticks), Cell::Int(self.cum_ticks), Cell::Empty(),
      LeastCell(self, rough),     MostCell(self, rough),     Cell::Text(self.name)};
  AddOutsideCells(self, row);
  AddMeasureCells(input, {self.measure.base, self.measure.cum, std::nullopt}, row);
  if (input.tree.has_places()) row.push_back(Cell::Text(""));
  return row;
}

Table FunctionTable(const ReportInput& input) {
  Table table;
  table.columns = {{"row"},
                   {"calls", Style::kCount, true},
                   {"calls_pct", Style::kPlain, true},
                   {"base", Style::kTime, true},
                   {"cum", Style::kTime, true},
                   {"cum_pct", Style::kPlain, true},
                   {"base_ticks", Style::kTicks, true},
                   {"cum_ticks", Style::kTicks, true},
                   {"cum_ticks_pct", Style::kPlain, true},
                   Column{"min_base", Style::kTime, true}.Ranked(2),
                   Column{"max_base", Style::kTime, true}.Ranked(2),
                   {"name"}};
  AddOutsideColumns(table);
  AddMeasureColumns(input, MeasureColumns::kBaseCum, table);
  if (input.measure().is_chosen)
    table.columns.push_back({StrCat(input.measure().name, ".cum_pct")});
  if (input.tree.has_places()) table.columns.push_back({"site"});
  for (const uint32_t row : input.flat().Sorted()) {
    const FlatRow& self = input.flat().rows()[row];
    if (self.is_root || !RoutineMatches(input.options.of, self.name)) continue;
    const Neighbours neighbours(input, row);
    for (const ArcSum& arc : neighbours.callers()) {
      table.rows.push_back(ArcRow(input, self, arc, true));
    }
    table.rows.push_back(FunctionRow(input, self));
    for (const ArcSum& arc : neighbours.callees()) {
      table.rows.push_back(ArcRow(input, self, arc, false));
    }
  }
  return table;
}

// Names have them too.
void RemoveSites(Table& table) {
  table.columns.pop_back();
  for (std::vector<Cell>& row : table.rows) row.pop_back();
}

// The table with headers for people: time in separate columns if there are ticks too.
void FunctionText(const ReportInput& input, std::ostream& out) {
  Table table = FunctionTable(input);
  SortAsWanted(input, table);
  LimitRows(table, input.options.top);
  if (input.tree.has_places()) RemoveSites(table);
  const std::vector<std::string> headers = {"",      "calls",        "of calls", "self time",
                                            "time",  "of time",      "self",     "total",
                                            "share", "least of one", "most",     "routine"};
  for (size_t i = 0; i < headers.size(); ++i) table.columns[i].name = headers[i];
  table.columns[static_cast<size_t>(table.Find("outside_calls"))].name = "calls out";
  table.columns[static_cast<size_t>(table.Find("outside_time"))].name = "time out";
  table.MoveLast("routine");
  WriteText(table, input.layout(), out);
}

}  // namespace

extern const Report kFunctionReport = {
    .name = "function",
    .group = ReportGroup::kRoutines,
    .summary = "callers and callees of the routine named by --of, with their shares",
    .example = "jtrace-post --report=function --of=org.h2.Driver.connect trace.bin",
    .needs = kNeedsOf,
    .accepts = kAcceptsOfTree | kAcceptsSites,
    .table = FunctionTable,
    .text = FunctionText,
};

}  // namespace jtrace::postproc
