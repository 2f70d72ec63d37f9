// A row for each place that calls and each routine that it calls (S4.4).
#include <algorithm>
#include <tuple>

#include "absl/container/flat_hash_map.h"
#include "postproc/report/column_names.h"
#include "postproc/report/report.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

// Calls of a routine from one place, or all of those whose place is unknown.
struct SiteRow {
  std::string site;
  std::string name;  // with the site, if any
  FlatRow sums;
  uint32_t open = 0;  // how many of its nodes are above the node in hand
};

class SiteRows {
 public:
  explicit SiteRows(const ReportInput& input)
      : input_(input), below_pruned_(FindBelowPruned(input.model, input.tree)) {
    for (const NodeId root : input.tree.roots()) AddTree(root);
  }

  std::vector<const SiteRow*> Sorted() const;

 private:
  struct Step {
    NodeId id;
    uint32_t row;
    NodeId next_child;
  };

  void AddTree(NodeId root);
  Step Enter(NodeId id);
  uint32_t RowOf(NodeId id);
  SiteRow MakeRow(NodeId id) const;

  const ReportInput& input_;
  const std::vector<bool> below_pruned_;
  std::vector<SiteRow> rows_;
  // By the caller's row and the called one's in the flat profile, and the place.
  absl::flat_hash_map<std::tuple<uint32_t, uint32_t, CallSite>, uint32_t> index_;
};

SiteRow SiteRows::MakeRow(NodeId id) const {
  const CallNode& node = input_.tree.node(id);
  SiteRow row;
  row.sums = FlatRow();
  const FlatRow& callee = input_.flat.rows()[input_.flat.RowOf(id)];
  row.sums.routine = callee.routine;
  row.sums.is_root = callee.is_root;
  row.name = std::string(callee.name);
  if (node.place == kNoCallSite) return row;
  const FlatRow& caller = input_.flat.rows()[input_.flat.RowOf(node.parent)];
  row.site = StrCat(caller.name, PlaceText(node.place));
  row.name = StrCat(row.site, " > ", row.name);
  return row;
}

uint32_t SiteRows::RowOf(NodeId id) {
  const CallNode& node = input_.tree.node(id);
  const bool placed = node.place != kNoCallSite;
  const std::tuple key(placed ? input_.flat.RowOf(node.parent) : 0, input_.flat.RowOf(id),
                       node.place);
  const auto [entry, inserted] = index_.try_emplace(key, rows_.size());
  if (inserted) rows_.push_back(MakeRow(id));
  return entry->second;
}

SiteRows::Step SiteRows::Enter(NodeId id) {
  const uint32_t index = RowOf(id);
  SiteRow& row = rows_[index];
  const CallNode& node = input_.tree.node(id);
  NodeTotals totals = input_.totals[id.value - 1];
  totals.recursion_level = ++row.open;
  row.sums.Add(id, node, totals, input_.measure);
  if (!below_pruned_.empty() && below_pruned_[id.value - 1]) row.sums.has_bounds = true;
  return {id, index, node.first_child};
}

void SiteRows::AddTree(NodeId root) {
  std::vector<Step> path = {Enter(root)};
  while (!path.empty()) {
    const NodeId child = path.back().next_child;
    if (!child) {
      --rows_[path.back().row].open;
      path.pop_back();
      continue;
    }
    path.back().next_child = input_.tree.node(child).next_sibling;
    path.push_back(Enter(child));
  }
}

// As the flat profile.
std::vector<const SiteRow*> SiteRows::Sorted() const {
  std::vector<const SiteRow*> sorted;
  for (const SiteRow& row : rows_) sorted.push_back(&row);
  const bool by_measure = input_.measure.is_chosen;
  std::stable_sort(sorted.begin(), sorted.end(), [&](const SiteRow* a, const SiteRow* b) {
    const int64_t first_a = by_measure ? a->sums.measure.cum : 0;
    const int64_t first_b = by_measure ? b->sums.measure.cum : 0;
    return std::tie(first_b, b->sums.cum, b->sums.cum_ticks, b->sums.calls, a->name) <
           std::tie(first_a, a->sums.cum, a->sums.cum_ticks, a->sums.calls, b->name);
  });
  return sorted;
}

// The name is last, so that it may use the rest of the line.
std::vector<Column> SiteTextColumns(const ReportInput& input) {
  const Style unit = StyleOf(input.measure);
  return {{"calls", Style::kCount, true},
          {"self", unit, true},
          {"total", unit, true},
          {"calling line"},
          {StrCat("routine", ByMeasure(input))}};
}

Table SitesTable(const ReportInput& input) {
  Table table;
  table.columns = {{"calls", Style::kCount},        {"base", Style::kTime},
                   {"cum", Style::kTime},           {"cum2", Style::kTime},
                   {"elapsed", Style::kTime},       {"base_ticks", Style::kTicks},
                   {"cum_ticks", Style::kTicks},    {"cum2_ticks", Style::kTicks},
                   {"samples", Style::kCount},      {"name"},
                   {"calls_jitted", Style::kCount}, {"min_base", Style::kTime},
                   {"max_base", Style::kTime}};
  AddMeasureColumns(input, MeasureColumns::kBaseCumCum2, table);
  table.columns.push_back({"site"});
  const SiteRows rows(input);
  for (const SiteRow* row : rows.Sorted()) {
    const FlatRow& sums = row->sums;
    if (IsFiltered(input, sums.measure.cum, input.measure.whole)) continue;
    const auto at_least = sums.has_bounds ? Cell::Bound::kAtLeast : Cell::Bound::kNone;
    const auto at_most = sums.has_bounds ? Cell::Bound::kAtMost : Cell::Bound::kNone;
    table.rows.push_back(
        {Cell::Int(sums.calls), Cell::Int(sums.base), Cell::Int(sums.cum).As(at_least),
         Cell::Int(sums.cum2).As(at_least), Cell::Int(sums.elapsed).As(at_least),
         Cell::Int(sums.base_ticks), Cell::Int(sums.cum_ticks), Cell::Int(sums.cum2_ticks),
         Cell::Int(sums.samples), Cell::Text(row->name), Cell::Int(sums.calls_jitted),
         Cell::Int(sums.min_base).As(at_least), Cell::Int(sums.max_base).As(at_most)});
    AddMeasureCells(input, {sums.measure.base, sums.measure.cum, sums.measure.cum2},
                    table.rows.back());
    table.rows.back().push_back(Cell::Text(row->site));
  }
  return table;
}

// Threads have no callers; columns without information are left out.
void SitesText(const ReportInput& input, std::ostream& out) {
  Table full = SitesTable(input);
  SortAsWanted(input, full);
  const auto column = [&](std::string_view name) { return static_cast<size_t>(full.Find(name)); };
  const Measure& measure = input.measure;
  const bool by_ticks = measure.kind == Measure::Kind::kTicks;
  const std::string prefix = measure.is_chosen ? StrCat(measure.name, ".") : "";
  const size_t self =
      column(StrCat(prefix, by_ticks && !measure.is_chosen ? "base_ticks" : "base"));
  const size_t total = column(StrCat(prefix, by_ticks && !measure.is_chosen ? "cum_ticks" : "cum"));
  Table table;
  table.columns = SiteTextColumns(input);
  for (const auto& row : full.rows) {
    const std::string& site = row[column("site")].text();
    if (site.empty()) continue;
    const std::string_view name = row[column("name")].text();
    const int64_t calls = row[column("calls")].integer();
    table.rows.push_back({calls == 0 ? Cell::Empty() : Cell::Int(calls),
                          measure.is_more_than_calls() ? row[self] : Cell::Empty(),
                          measure.is_more_than_calls() ? row[total] : Cell::Empty(),
                          Cell::Text(site), Cell::Text(name.substr(site.size() + 3))});
  }
  LimitRows(table, input.options.top);
  WriteText(table, input.layout(), out);
}

}  // namespace

extern const Report kSitesReport = {
    .name = "sites",
    .group = ReportGroup::kRoutines,
    .summary = "a row for each line that calls, and each routine that it calls (sites=on)",
    .example = "jtrace-post --report=sites --top=20 trace.bin",
    .needs = kNeedsPlaces,
    .accepts = kAcceptsOfTree | kAcceptsSites,
    .table = SitesTable,
    .text = SitesText,
};

}  // namespace jtrace::postproc
