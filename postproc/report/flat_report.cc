// A row a routine (FIG. 26).
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
  const HeatMap heat = ComputeHeat(input);
  for (const uint32_t index : input.flat.Sorted()) {
    const FlatRow& row = input.flat.rows()[index];
    if (row.is_root && !with_roots) continue;
    const int64_t inclusive = heat.unit == Heat::kTicks  ? row.cum_ticks
                              : heat.unit == Heat::kTime ? row.cum
                                                         : row.calls;
    if (input.options.filter_percent > 0 &&
        PercentOf(inclusive, heat.whole) < input.options.filter_percent) {
      continue;
    }
    const RoutineTraits traits = input.model.TraitsOf(row.routine);
    table.rows.push_back({Cell::Int(row.calls), Cell::Int(row.base), Cell::Int(row.cum),
                          Cell::Int(row.cum2), Cell::Int(row.elapsed), Cell::Int(row.base_ticks),
                          Cell::Int(row.cum_ticks), Cell::Int(row.cum2_ticks),
                          Cell::Int(row.samples), Cell::Text(row.name), Cell::Int(row.calls_jitted),
                          Cell::Int(row.min_base), Cell::Int(row.max_base),
                          Cell::Text(row.is_root ? "" : RoutineKindName(traits.kind)),
                          Cell::Text(RoutineCostName(traits.cost))});
  }
  return table;
}

// The name last, so that it may take the rest of the line.
std::vector<Column> TextColumns(bool by_ticks) {
  const Style unit = by_ticks ? Style::kTicks : Style::kTime;
  return {{"self %", Style::kPlain, true}, {"self", unit, true},
          {"total", unit, true},           {"total rec.", unit, true},
          {"calls", Style::kCount, true},  {"jitted %", Style::kPlain, true},
          {"time", Style::kTime, true},    {"total time", Style::kTime, true},
          {"waiting", Style::kTime, true}, {"min", Style::kTime, true},
          {"max", Style::kTime, true},     {"routine"}};
}

}  // namespace

Table FlatTable(const ReportInput& input) { return MakeTable(input, /*with_roots=*/true); }

// Threads are left to the threads report, and columns that say nothing left out.
void FlatText(const ReportInput& input, std::ostream& out) {
  Table full = MakeTable(input, /*with_roots=*/false);
  if (!input.options.sort.empty()) SortRows(full, input.options.sort);
  LimitRows(full, input.options.top);
  const HeatMap heat = ComputeHeat(input);
  const bool by_ticks = heat.unit == Heat::kTicks;
  // Ticks and times beside each other need a wide line.
  const int width = input.options.width;
  const bool with_time = by_ticks && (width == 0 || width >= kWidthForTimes);
  const bool with_extremes = !by_ticks || with_time;
  Table table;
  table.columns = TextColumns(by_ticks);
  const auto at = [&](const std::vector<Cell>& row, std::string_view column) {
    return row[static_cast<size_t>(full.Find(column))].integer();
  };
  for (const auto& row : full.rows) {
    const int64_t self = at(row, by_ticks ? "base_ticks" : "base");
    const int64_t total = at(row, by_ticks ? "cum_ticks" : "cum");
    const int64_t recursive = at(row, by_ticks ? "cum2_ticks" : "cum2");
    const int64_t calls = at(row, "calls");
    // The clock knows nothing of what was only sampled.
    const bool is_clocked = calls != 0 || at(row, "elapsed") != 0;
    const auto timed = [&](bool is_shown, int64_t value) {
      return is_shown && is_clocked ? Cell::Int(value) : Cell::Empty();
    };
    const int64_t waiting = WrapSub(at(row, "elapsed"), at(row, "cum"));
    table.rows.push_back(
        {heat.unit == Heat::kCalls ? Cell::Empty() : Cell::Percent(PercentOf(self, heat.whole)),
         Cell::Int(self), Cell::Int(total),
         recursive == total ? Cell::Empty() : Cell::Int(recursive),
         calls == 0 ? Cell::Empty() : Cell::Int(calls),
         at(row, "calls_jitted") == 0 ? Cell::Empty()
                                      : Cell::Percent(PercentOf(at(row, "calls_jitted"), calls)),
         timed(with_time, at(row, "base")), timed(with_time, at(row, "cum")),
         timed(with_extremes && waiting != 0, waiting), timed(with_extremes, at(row, "min_base")),
         timed(with_extremes, at(row, "max_base")), row[static_cast<size_t>(full.Find("name"))]});
  }
  WriteText(table, input.layout(), out);
}

}  // namespace jtrace::postproc
