// Sums over nodes in rows: of each routine (FIG. 26), of each routine of each thread (S3.11), of
// each line that calls and each routine that it calls (S4.4).
#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "postproc/calltree/flat_profile.h"
#include "postproc/report/report.h"
#include "postproc/report/thread_order.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

struct SumRow {
  const FlatRow* sums = nullptr;
  std::string_view name;
  std::string_view thread = {};  // of bythread
  std::string_view site = {};    // of sites
};
using SumColumn = ColumnOf<SumRow>;
using SumColumns = std::vector<SumColumn>;

Cell::Bound AtLeastIf(bool is_bound) {
  return is_bound ? Cell::Bound::kAtLeast : Cell::Bound::kNone;
}
Cell::Bound AtMostIf(bool is_bound) { return is_bound ? Cell::Bound::kAtMost : Cell::Bound::kNone; }

Column DataColumn(std::string_view name, Style style = Style::kPlain) {
  return Column{std::string(name), style}.Only(Column::In::kData);
}
// Left out if it is blank in all rows.
Column TextColumn(std::string_view name, Style style = Style::kPlain, int rank = 0) {
  return Column{std::string(name), style, true, rank}.Only(Column::In::kText);
}

SumColumn SumOf(std::string_view name, Style style, int64_t FlatRow::*member) {
  return {DataColumn(name, style), [=](const SumRow& row) { return Cell::Int(row.sums->*member); }};
}
// Greater, perhaps, where the callers of some calls are not known.
SumColumn LeastSumOf(std::string_view name, Style style, int64_t FlatRow::*member) {
  return {DataColumn(name, style), [=](const SumRow& row) {
            return Cell::Int(row.sums->*member).As(AtLeastIf(row.sums->has_bounds));
          }};
}
SumColumn NameIn(const Column& column) {
  return {column, [](const SumRow& row) { return Cell::Text(row.name); }};
}
SumColumn ThreadIn(const Column& column) {
  return {column, [](const SumRow& row) { return Cell::Text(row.thread); }};
}
SumColumn SiteIn(const Column& column) {
  return {column, [](const SumRow& row) { return Cell::Text(row.site); }};
}

void Append(SumColumns more, SumColumns& columns) {
  for (SumColumn& column : more) columns.push_back(std::move(column));
}

// What CSV and JSON have of all such rows.
SumColumns CommonSums() {
  return {SumOf("calls", Style::kCount, &FlatRow::calls),
          SumOf("base", Style::kTime, &FlatRow::base),
          LeastSumOf("cum", Style::kTime, &FlatRow::cum),
          LeastSumOf("cum2", Style::kTime, &FlatRow::cum2),
          LeastSumOf("elapsed", Style::kTime, &FlatRow::elapsed),
          SumOf("base_ticks", Style::kTicks, &FlatRow::base_ticks),
          SumOf("cum_ticks", Style::kTicks, &FlatRow::cum_ticks),
          SumOf("cum2_ticks", Style::kTicks, &FlatRow::cum2_ticks),
          SumOf("samples", Style::kCount, &FlatRow::samples)};
}

// `is_rough`: whether the extremes of a row are bounds.
SumColumns CallColumns(bool (*is_rough)(const FlatRow& row)) {
  return {SumOf("calls_jitted", Style::kCount, &FlatRow::calls_jitted),
          {DataColumn("min_base", Style::kTime),
           [=](const SumRow& row) {
             return Cell::Int(row.sums->min_base).As(AtLeastIf(is_rough(*row.sums)));
           }},
          {DataColumn("max_base", Style::kTime), [=](const SumRow& row) {
             return Cell::Int(row.sums->max_base).As(AtMostIf(is_rough(*row.sums)));
           }}};
}
bool HasBounds(const FlatRow& row) { return row.has_bounds; }
bool IsRough(const FlatRow& row) { return row.has_bounds || row.has_rough_extremes; }

SumColumn KindColumn(const ReportInput& input) {
  return {DataColumn("kind"), [&input](const SumRow& row) {
            const RoutineKind kind = input.model.TraitsOf(row.sums->routine).kind;
            return Cell::Text(row.sums->is_root ? "thread" : RoutineKindName(kind));
          }};
}

// Of --metric.
SumColumns ChosenMeasure(const ReportInput& input) {
  const Measure& measure = input.measure();
  if (!measure.is_chosen) return {};
  const auto column = [&](std::string_view ending, int64_t MeasureSums::*member) {
    return SumColumn{DataColumn(StrCat(measure.name, ending), StyleOf(measure)),
                     [=](const SumRow& row) { return Cell::Int(row.sums->measure.*member); }};
  };
  return {column(".base", &MeasureSums::base), column(".cum", &MeasureSums::cum),
          column(".cum2", &MeasureSums::cum2)};
}

// What text calls self and total: calls have a column anyway.
MeasureSums ShownSums(const Measure& measure, const FlatRow& row) {
  if (measure.is_chosen) return row.measure;
  if (measure.kind == Measure::Kind::kTicks) {
    return {row.base_ticks, row.cum_ticks, row.cum2_ticks};
  }
  return {row.base, row.cum, row.cum2};
}

Cell Unless0(int64_t value) { return value == 0 ? Cell::Empty() : Cell::Int(value); }

SumColumn CallsInText() {
  return {TextColumn("calls", Style::kCount),
          [](const SumRow& row) { return Unless0(row.sums->calls); }};
}
SumColumn JittedInText(int rank) {
  return {TextColumn("jitted %", Style::kPlain, rank), [](const SumRow& row) {
            const FlatRow& sums = *row.sums;
            return sums.calls_jitted == 0 ? Cell::Empty()
                                          : Cell::Percent(PercentOf(sums.calls_jitted, sums.calls));
          }};
}

// The flat report.

// What text shows beside the measure.
struct TextChoice {
  explicit TextChoice(const ReportInput& input) {
    constexpr int kWidthForTimes = 110;
    const Measure& measure = input.measure();
    const bool by_ticks = measure.kind == Measure::Kind::kTicks;
    // Ticks and times beside each other need a wide line.
    const int width = input.options.width;
    with_time = by_ticks && !measure.is_chosen && (width == 0 || width >= kWidthForTimes);
    with_extremes =
        with_time || measure.kind == Measure::Kind::kTime || !measure.is_more_than_calls();
  }
  bool with_time = false;
  bool with_extremes = false;
};

SumColumns MeasureInText(const ReportInput& input) {
  const Measure& measure = input.measure();
  const Style unit = StyleOf(measure);
  return {
      {TextColumn("self %"),
       [&measure](const SumRow& row) {
         const int64_t self = ShownSums(measure, *row.sums).base;
         return measure.is_more_than_calls() ? Cell::Percent(PercentOf(self, measure.whole))
                                             : Cell::Empty();
       }},
      {TextColumn("self", unit),
       [&measure](const SumRow& row) { return Cell::Int(ShownSums(measure, *row.sums).base); }},
      {TextColumn("total", unit),
       [&measure](const SumRow& row) {
         return Cell::Int(ShownSums(measure, *row.sums).cum).As(AtLeastIf(row.sums->has_bounds));
       }},
      {TextColumn("total rec.", unit, 3), [&measure](const SumRow& row) {
         const MeasureSums sums = ShownSums(measure, *row.sums);
         return sums.cum2 == sums.cum ? Cell::Empty()
                                      : Cell::Int(sums.cum2).As(AtLeastIf(row.sums->has_bounds));
       }}};
}

// Of the clock: it has no times of routines that were only sampled.
SumColumn TimeInText(std::string_view name, int rank, bool is_shown,
                     Cell (*time)(const FlatRow& row)) {
  return {TextColumn(name, Style::kTime, rank), [=](const SumRow& row) {
            const bool is_clocked = row.sums->calls != 0 || row.sums->elapsed != 0;
            return is_shown && is_clocked ? time(*row.sums) : Cell::Empty();
          }};
}

SumColumns TimesInText(const TextChoice& choice) {
  return {TimeInText("time", 0, choice.with_time,
                     [](const FlatRow& row) { return Cell::Int(row.base); }),
          TimeInText(
              "total time", 0, choice.with_time,
              [](const FlatRow& row) { return Cell::Int(row.cum).As(AtLeastIf(row.has_bounds)); }),
          TimeInText("waiting", 2, choice.with_extremes,
                     [](const FlatRow& row) {
                       return Unless0(WrapSub(row.elapsed, row.cum)).As(AtLeastIf(row.has_bounds));
                     }),
          TimeInText("min", 5, choice.with_extremes,
                     [](const FlatRow& row) {
                       return Cell::Int(row.min_base).As(AtLeastIf(IsRough(row)));
                     }),
          TimeInText("max", 5, choice.with_extremes, [](const FlatRow& row) {
            return Cell::Int(row.max_base).As(AtMostIf(IsRough(row)));
          })};
}

SumColumns FlatColumns(const ReportInput& input) {
  SumColumns columns = CommonSums();
  columns.push_back(NameIn(DataColumn("name")));
  Append(CallColumns(IsRough), columns);
  columns.push_back(KindColumn(input));
  columns.push_back({DataColumn("cost"), [&input](const SumRow& row) {
                       return Cell::Text(
                           RoutineCostName(input.model.TraitsOf(row.sums->routine).cost));
                     }});
  columns.push_back(SumOf("outside_calls", Style::kCount, &FlatRow::outside_calls));
  columns.push_back(SumOf("outside_time", Style::kTime, &FlatRow::outside_time));
  Append(ChosenMeasure(input), columns);
  // The name is last, so that it may use the rest of the line.
  Append(MeasureInText(input), columns);
  columns.push_back(CallsInText());
  columns.push_back(JittedInText(4));
  Append(TimesInText(TextChoice(input)), columns);
  columns.push_back({TextColumn("calls out", Style::kCount, 1),
                     [](const SumRow& row) { return Unless0(row.sums->outside_calls); }});
  columns.push_back({TextColumn("time out", Style::kTime, 1),
                     [](const SumRow& row) { return Unless0(row.sums->outside_time); }});
  columns.push_back(NameIn(Column{StrCat("routine", ByMeasure(input))}.Only(Column::In::kText)));
  return columns;
}

Table FlatRows(const ReportInput& input, bool with_roots) {
  std::vector<SumRow> rows;
  for (const uint32_t index : input.flat().Sorted()) {
    const FlatRow& row = input.flat().rows()[index];
    if (row.is_root && !with_roots) continue;
    if (!IsFiltered(input, row.measure.cum, input.measure().whole))
      rows.push_back({&row, row.name});
  }
  return MakeTable(FlatColumns(input), rows);
}

Table FlatTable(const ReportInput& input) { return FlatRows(input, /*with_roots=*/true); }

}  // namespace

// The threads report shows threads; columns without information are left out.
void FlatText(const ReportInput& input, std::ostream& out) {
  Table table = FlatRows(input, /*with_roots=*/false);
  SortAsWanted(input, table);
  LimitRows(table, input.options.top);
  WriteText(table, input.layout(), out);
  const auto& rows = input.flat().rows();
  const auto has = [&](bool FlatRow::*member) {
    return std::any_of(rows.begin(), rows.end(), [&](const FlatRow& row) { return row.*member; });
  };
  if (TextChoice(input).with_extremes && has(&FlatRow::has_rough_extremes)) {
    out << "\n≥ at least, ≤ at most: times of calls out of scope are in their caller "
           "(--outside=caller),\nand are not known for each of its calls.\n";
  }
  if (!has(&FlatRow::has_bounds) || !input.measure().is_more_than_calls()) return;
  out << "\n≥ at least, ≤ at most: memory= was used up, and callers of some calls are not known.\n"
         "Calls and self are exact.\n";
}

namespace {

// Of each thread.

std::vector<ThreadRow> ShownThreadRows(const ReportInput& input) {
  std::vector<ThreadRow> rows =
      ThreadProfile(input.model, input.tree, input.totals(), input.measure());
  std::erase_if(rows, [&](const ThreadRow& row) {
    return IsFiltered(input, row.sums.measure.cum, input.measure().whole);
  });
  return rows;
}

std::vector<SumRow> SumRowsOf(const ReportInput& input, const std::vector<ThreadRow>& of_threads) {
  std::vector<SumRow> rows;
  for (const ThreadRow& row : of_threads) {
    rows.push_back({&row.sums, row.sums.name, input.model.thread(row.thread).name});
  }
  return rows;
}

Table ByThreadTable(const ReportInput& input) {
  SumColumns columns = {ThreadIn(DataColumn("thread")), NameIn(DataColumn("name"))};
  Append(CommonSums(), columns);
  Append(CallColumns(HasBounds), columns);
  columns.push_back(KindColumn(input));
  Append(ChosenMeasure(input), columns);
  const std::vector<ThreadRow> rows = ShownThreadRows(input);
  return MakeTable(columns, SumRowsOf(input, rows));
}

std::vector<ThreadRow> ProgramRowsFirst(const ReportInput& input) {
  absl::flat_hash_set<ThreadId> of_jvm;
  for (const ThreadSummary& thread : input.threads) {
    if (IsThreadOfJvm(input, thread.root)) of_jvm.insert(thread.thread);
  }
  std::vector<ThreadRow> rows = ShownThreadRows(input);
  std::stable_partition(rows.begin(), rows.end(),
                        [&](const ThreadRow& row) { return !of_jvm.contains(row.thread); });
  return rows;
}

// By the columns of the text, which are fewer than the table's.
void SortText(const ReportInput& input, Table& table) {
  const std::string_view sort = input.options.sort;
  if (sort.empty() || SortRows(table, sort)) return;
  const bool is_self = sort.find("base") != std::string_view::npos;
  const bool is_total = sort.find("cum") != std::string_view::npos || sort == "elapsed";
  SortRows(table, is_self          ? std::string_view("self")
                  : is_total       ? std::string_view("total")
                  : sort == "name" ? std::string_view(table.columns.back().name)
                                   : std::string_view("calls"));
}

// Threads' own rows only where they have something of their own.
void ByThreadText(const ReportInput& input, std::ostream& out) {
  const Measure& measure = input.measure();
  const Style unit = StyleOf(measure);
  const SumColumns columns = {
      {TextColumn("self %"),
       [&](const SumRow& row) {
         return measure.is_more_than_calls()
                    ? Cell::Percent(PercentOf(row.sums->measure.base, measure.whole))
                    : Cell::Empty();
       }},
      {TextColumn("self", unit),
       [](const SumRow& row) { return Cell::Int(row.sums->measure.base); }},
      {TextColumn("total", unit),
       [](const SumRow& row) { return Cell::Int(row.sums->measure.cum); }},
      CallsInText(),
      JittedInText(2),
      ThreadIn(Column{"thread"}.AsPlain()),
      NameIn({StrCat("routine", ByMeasure(input))})};
  std::vector<ThreadRow> rows = ProgramRowsFirst(input);
  std::erase_if(
      rows, [](const ThreadRow& row) { return row.sums.is_root && row.sums.measure.base == 0; });
  Table table = MakeTable(columns, SumRowsOf(input, rows));
  SortText(input, table);
  LimitRows(table, input.options.top);
  WriteText(table, input.layout(), out);
}

// Of each line that calls.

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
  const FlatRow& callee = input_.flat().rows()[input_.flat().RowOf(id)];
  row.sums.routine = callee.routine;
  row.sums.is_root = callee.is_root;
  row.name = std::string(callee.name);
  if (node.place == kNoCallSite) return row;
  const FlatRow& caller = input_.flat().rows()[input_.flat().RowOf(node.parent)];
  row.site = StrCat(caller.name, PlaceText(node.place));
  row.name = StrCat(row.site, " > ", row.name);
  return row;
}

uint32_t SiteRows::RowOf(NodeId id) {
  const CallNode& node = input_.tree.node(id);
  const bool placed = node.place != kNoCallSite;
  const std::tuple key(placed ? input_.flat().RowOf(node.parent) : 0, input_.flat().RowOf(id),
                       node.place);
  const auto [entry, inserted] = index_.try_emplace(key, rows_.size());
  if (inserted) rows_.push_back(MakeRow(id));
  return entry->second;
}

SiteRows::Step SiteRows::Enter(NodeId id) {
  const uint32_t index = RowOf(id);
  SiteRow& row = rows_[index];
  const CallNode& node = input_.tree.node(id);
  NodeTotals totals = input_.totals()[id.value - 1];
  totals.recursion_level = ++row.open;
  row.sums.Add(id, node, totals, input_.measure());
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
  const bool by_measure = input_.measure().is_chosen;
  std::stable_sort(sorted.begin(), sorted.end(), [&](const SiteRow* a, const SiteRow* b) {
    const int64_t first_a = by_measure ? a->sums.measure.cum : 0;
    const int64_t first_b = by_measure ? b->sums.measure.cum : 0;
    return std::tie(first_b, b->sums.cum, b->sums.cum_ticks, b->sums.calls, a->name) <
           std::tie(first_a, a->sums.cum, a->sums.cum_ticks, a->sums.calls, b->name);
  });
  return sorted;
}

SumColumns SiteColumns(const ReportInput& input) {
  SumColumns columns = CommonSums();
  columns.push_back(NameIn(DataColumn("name")));
  Append(CallColumns(HasBounds), columns);
  Append(ChosenMeasure(input), columns);
  columns.push_back(SiteIn(DataColumn("site")));
  const Measure& measure = input.measure();
  const auto amount = [&measure](std::string_view name, int64_t MeasureSums::*member) {
    return SumColumn{TextColumn(name, StyleOf(measure)), [&measure, member](const SumRow& row) {
                       if (!measure.is_more_than_calls()) return Cell::Empty();
                       const bool has_bound = member == &MeasureSums::cum && !measure.is_chosen &&
                                              measure.kind != Measure::Kind::kTicks;
                       return Cell::Int(ShownSums(measure, *row.sums).*member)
                           .As(AtLeastIf(has_bound && row.sums->has_bounds));
                     }};
  };
  // The name is last, so that it may use the rest of the line.
  columns.push_back(CallsInText());
  columns.push_back(amount("self", &MeasureSums::base));
  columns.push_back(amount("total", &MeasureSums::cum));
  columns.push_back(SiteIn(Column{"calling line"}.Only(Column::In::kText)));
  columns.push_back(
      {Column{StrCat("routine", ByMeasure(input))}.Only(Column::In::kText), [](const SumRow& row) {
         // Behind "SITE > ".
         return Cell::Text(row.site.empty() ? row.name : row.name.substr(row.site.size() + 3));
       }});
  return columns;
}

// Threads have no callers, and no line calls what has no place.
Table SiteTable(const ReportInput& input, bool with_unplaced) {
  const SiteRows all(input);
  std::vector<SumRow> rows;
  for (const SiteRow* row : all.Sorted()) {
    if (row->site.empty() && !with_unplaced) continue;
    if (IsFiltered(input, row->sums.measure.cum, input.measure().whole)) continue;
    rows.push_back({&row->sums, row->name, {}, row->site});
  }
  return MakeTable(SiteColumns(input), rows);
}

Table SitesTable(const ReportInput& input) { return SiteTable(input, /*with_unplaced=*/true); }

void SitesText(const ReportInput& input, std::ostream& out) {
  Table table = SiteTable(input, /*with_unplaced=*/false);
  SortAsWanted(input, table);
  LimitRows(table, input.options.top);
  WriteText(table, input.layout(), out);
}

}  // namespace

extern const Report kFlatReport = {
    .name = "flat",
    .group = ReportGroup::kRoutines,
    .summary = "a row for each routine: calls, base, cum, recursive cum",
    .example = "jtrace-post --report=flat --sort=calls --top=20 trace.bin",
    .accepts = kAcceptsOfTree | kAcceptsMethodCosts,
    .if_empty = kNothingRecorded,
    .table = FlatTable,
    .text = FlatText,
};

extern const Report kByThreadReport = {
    .name = "bythread",
    .group = ReportGroup::kThreads,
    .summary = "a row for each routine of each thread: ticks, calls, times",
    .example = "jtrace-post --report=bythread --top=20 trace.bin",
    .accepts = kAcceptsOfTree,
    .if_empty = kNothingRecorded,
    .table = ByThreadTable,
    .text = ByThreadText,
};

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
