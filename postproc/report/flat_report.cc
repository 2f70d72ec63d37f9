// A row for each routine (FIG. 26).
#include <algorithm>

#include "postproc/report/column_names.h"
#include "postproc/report/report.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {

namespace {

constexpr int kWidthForTimes = 110;

Table MakeTable(const ReportInput& input, bool with_roots) {
  Table table;
  table.columns = {{"calls", Style::kCount},
                   {"base", Style::kTime},
                   {"cum", Style::kTime},
                   {"cum2", Style::kTime},
                   {"elapsed", Style::kTime},
                   {"base_ticks", Style::kTicks},
                   {"cum_ticks", Style::kTicks},
                   {"cum2_ticks", Style::kTicks},
                   {"samples", Style::kCount},
                   {"name"},
                   {"calls_jitted", Style::kCount},
                   {"min_base", Style::kTime},
                   {"max_base", Style::kTime},
                   {"kind"},
                   {"cost"}};
  AddOutsideColumns(table);
  AddMeasureColumns(input, MeasureColumns::kBaseCumCum2, table);
  for (const uint32_t index : input.flat.Sorted()) {
    const FlatRow& row = input.flat.rows()[index];
    if (row.is_root && !with_roots) continue;
    if (IsFiltered(input, row.measure.cum, input.measure.whole)) continue;
    const RoutineTraits traits = input.model.TraitsOf(row.routine);
    const auto at_least = row.has_bounds ? Cell::Bound::kAtLeast : Cell::Bound::kNone;
    const bool is_rough = row.has_bounds || row.has_rough_extremes;
    const auto least = is_rough ? Cell::Bound::kAtLeast : Cell::Bound::kNone;
    const auto most = is_rough ? Cell::Bound::kAtMost : Cell::Bound::kNone;
    table.rows.push_back({Cell::Int(row.calls), Cell::Int(row.base),
                          Cell::Int(row.cum).As(at_least), Cell::Int(row.cum2).As(at_least),
                          Cell::Int(row.elapsed).As(at_least), Cell::Int(row.base_ticks),
                          Cell::Int(row.cum_ticks), Cell::Int(row.cum2_ticks),
                          Cell::Int(row.samples), Cell::Text(row.name), Cell::Int(row.calls_jitted),
                          Cell::Int(row.min_base).As(least), Cell::Int(row.max_base).As(most),
                          Cell::Text(row.is_root ? "thread" : RoutineKindName(traits.kind)),
                          Cell::Text(RoutineCostName(traits.cost))});
    AddOutsideCells(row, table.rows.back());
    AddMeasureCells(input, {row.measure.base, row.measure.cum, row.measure.cum2},
                    table.rows.back());
  }
  return table;
}

// The name is last, so that it may use the rest of the line.
std::vector<Column> TextColumns(const ReportInput& input) {
  const Style unit = StyleOf(input.measure);
  return {{"self %", Style::kPlain, true},
          {"self", unit, true},
          {"total", unit, true},
          Column{"total rec.", unit, true}.Ranked(3),
          {"calls", Style::kCount, true},
          Column{"jitted %", Style::kPlain, true}.Ranked(4),
          {"time", Style::kTime, true},
          {"total time", Style::kTime, true},
          Column{"waiting", Style::kTime, true}.Ranked(2),
          Column{"min", Style::kTime, true}.Ranked(5),
          Column{"max", Style::kTime, true}.Ranked(5),
          Column{"calls out", Style::kCount, true}.Ranked(1),
          Column{"time out", Style::kTime, true}.Ranked(1),
          {StrCat("routine", ByMeasure(input))}};
}

// The columns beside the measure.
struct TextChoice {
  explicit TextChoice(const ReportInput& input) {
    const Measure& measure = input.measure;
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

// A row of the full table, by column.
class RowReader {
 public:
  RowReader(const Table& table, const std::vector<Cell>& row) : table_(table), row_(row) {}
  const Cell& cell(std::string_view column) const {
    return row_[static_cast<size_t>(table_.Find(column))];
  }
  int64_t operator()(std::string_view column) const { return cell(column).integer(); }

 private:
  const Table& table_;
  const std::vector<Cell>& row_;
};

// The measure's sums: calls have a column anyway.
std::vector<Cell> MeasureCells(const ReportInput& input, const RowReader& at) {
  const Measure& measure = input.measure;
  const auto sums = [&]() -> MeasureSums {
    if (measure.is_chosen) {
      return {at(StrCat(measure.name, ".base")), at(StrCat(measure.name, ".cum")),
              at(StrCat(measure.name, ".cum2"))};
    }
    if (measure.kind == Measure::Kind::kTicks) {
      return {at("base_ticks"), at("cum_ticks"), at("cum2_ticks")};
    }
    return {at("base"), at("cum"), at("cum2")};
  }();
  const Cell::Bound bound = at.cell("cum").bound();
  return {measure.is_more_than_calls() ? Cell::Percent(PercentOf(sums.base, measure.whole))
                                       : Cell::Empty(),
          Cell::Int(sums.base), Cell::Int(sums.cum).As(bound),
          sums.cum2 == sums.cum ? Cell::Empty() : Cell::Int(sums.cum2).As(bound)};
}

std::vector<Cell> TextRow(const ReportInput& input, const TextChoice& choice, const RowReader& at) {
  const int64_t calls = at("calls");
  // The clock has no times of routines that were only sampled.
  const bool is_clocked = calls != 0 || at("elapsed") != 0;
  const auto timed = [&](bool is_shown, const Cell& value) {
    return is_shown && is_clocked ? value : Cell::Empty();
  };
  const int64_t waiting = WrapSub(at("elapsed"), at("cum"));
  std::vector<Cell> cells = MeasureCells(input, at);
  const std::vector<Cell> others = {
      calls == 0 ? Cell::Empty() : Cell::Int(calls),
      at("calls_jitted") == 0 ? Cell::Empty() : Cell::Percent(PercentOf(at("calls_jitted"), calls)),
      timed(choice.with_time, at.cell("base")),
      timed(choice.with_time, at.cell("cum")),
      timed(choice.with_extremes && waiting != 0, Cell::Int(waiting).As(at.cell("cum").bound())),
      timed(choice.with_extremes, at.cell("min_base")),
      timed(choice.with_extremes, at.cell("max_base")),
      at("outside_calls") == 0 ? Cell::Empty() : at.cell("outside_calls"),
      at("outside_time") == 0 ? Cell::Empty() : at.cell("outside_time"),
      at.cell("name")};
  cells.insert(cells.end(), others.begin(), others.end());
  return cells;
}

Table FlatTable(const ReportInput& input) { return MakeTable(input, /*with_roots=*/true); }

}  // namespace

// The threads report shows threads; columns without information are left out.
void FlatText(const ReportInput& input, std::ostream& out) {
  Table full = MakeTable(input, /*with_roots=*/false);
  SortAsWanted(input, full);
  LimitRows(full, input.options.top);
  const TextChoice choice(input);
  Table table;
  table.columns = TextColumns(input);
  for (const auto& row : full.rows) {
    table.rows.push_back(TextRow(input, choice, RowReader(full, row)));
  }
  WriteText(table, input.layout(), out);
  const auto& rows = input.flat.rows();
  const auto has = [&](bool FlatRow::*member) {
    return std::any_of(rows.begin(), rows.end(), [&](const FlatRow& row) { return row.*member; });
  };
  if (choice.with_extremes && has(&FlatRow::has_rough_extremes)) {
    out << "\n≥ at least, ≤ at most: times of calls out of scope are in their caller "
           "(--outside=caller),\nand are not known for each of its calls.\n";
  }
  if (!has(&FlatRow::has_bounds) || !input.measure.is_more_than_calls()) return;
  out << "\n≥ at least, ≤ at most: memory= was used up, and callers of some calls are not known.\n"
         "Calls and self are exact.\n";
}

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

}  // namespace jtrace::postproc
