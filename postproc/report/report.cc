#include "postproc/report/report.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "common/nearest.h"
#include "postproc/support/error_kind.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

int64_t CellOrder(const Cell& a, const Cell& b) {
  if (a.kind() == Cell::Kind::kText || b.kind() == Cell::Kind::kText) {
    return a.text().compare(b.text());
  }
  if (a.kind() == Cell::Kind::kPercent || b.kind() == Cell::Kind::kPercent) {
    return a.percent() > b.percent() ? -1 : a.percent() < b.percent() ? 1 : 0;
  }
  return a.integer() > b.integer() ? -1 : a.integer() < b.integer() ? 1 : 0;
}

}  // namespace

bool SortRows(Table& table, std::string_view column) {
  const int index = table.Find(column);
  if (index < 0) return false;
  table.KeepRows();
  std::stable_sort(table.rows.begin(), table.rows.end(), [&](const auto& a, const auto& b) {
    return CellOrder(a[static_cast<size_t>(index)], b[static_cast<size_t>(index)]) < 0;
  });
  return true;
}

void LimitRows(Table& table, int64_t top) {
  if (top > 0 && table.rows.size() > static_cast<uint64_t>(top)) {
    table.rows.resize(static_cast<size_t>(top));
  }
  if (top > 0 && table.pass_rows != nullptr) {
    table.pass_rows = [all = std::move(table.pass_rows), top](Table::Visit visit) {
      int64_t rows = 0;
      all([&](const std::vector<Cell>& row) { return visit(row) && ++rows != top; });
    };
  }
}

void AddMeasureCells(const ReportInput& input, std::initializer_list<std::optional<int64_t>> values,
                     std::vector<Cell>& row) {
  if (!input.measure().is_chosen) return;
  for (const std::optional<int64_t> value : values) {
    row.push_back(value.has_value() ? Cell::Int(*value) : Cell::Empty());
  }
}

void AddOutsideColumns(Table& table) {
  table.columns.push_back({"outside_calls", Style::kCount, true});
  table.columns.push_back({"outside_time", Style::kTime, true});
}

void AddOutsideCells(const FlatRow& routine, std::vector<Cell>& row) {
  row.push_back(Cell::Int(routine.outside_calls));
  row.push_back(Cell::Int(routine.outside_time));
}

bool HasEvents(const ReportInput& input, NodeId root) {
  for (NodeId at = input.tree.node(root).first_child; at; at = input.tree.node(at).next_sibling) {
    const CallNode& node = input.tree.node(at);
    if (node.origin == NodeOrigin::kEvent && !input.model.IsHooked(node.routine)) return true;
  }
  return false;
}

bool IsFiltered(const ReportInput& input, int64_t part, int64_t whole) {
  const double least = input.options.filter_percent;
  return least > 0 && PercentOf(part, whole) < least;
}

std::string FormatMeasure(const ReportInput& input, int64_t value) {
  return FormatInteger(value, StyleOf(input.measure()), input.units());
}

std::string ByMeasure(const ReportInput& input) {
  return input.measure().is_chosen ? StrCat(" by ", Printable(input.measure().name)) : "";
}

void AddMeasureColumns(const ReportInput& input, MeasureColumns which, Table& table) {
  const Measure& measure = input.measure();
  if (!measure.is_chosen) return;
  for (const std::string_view ending : {".base", ".cum", ".cum2"}) {
    if (ending == ".cum2" && which == MeasureColumns::kBaseCum) continue;
    table.columns.push_back({StrCat(measure.name, ending), StyleOf(measure)});
  }
}

namespace {

// Text's name, and the table's: the first of these that it has. "*" is the measure's prefix.
struct Alias {
  std::string_view text;
  std::array<std::string_view, 3> columns;
};
constexpr Alias kAliases[] = {
    {"self", {"*base", "exclusive", "base"}},
    {"self %", {"*base", "exclusive", "base"}},
    {"total", {"*cum", "inclusive", "cum"}},
    {"share", {"*cum", "inclusive", "cum"}},
    {"total rec.", {"*cum2", "cum2", ""}},
    {"time", {"base", "", ""}},
    {"self time", {"base", "", ""}},
    {"total time", {"cum", "", ""}},
    {"min", {"min_base", "min_ns", ""}},
    {"max", {"max_base", "max_ns", ""}},
    {"mean", {"mean_ns", "", ""}},
    {"jitted %", {"calls_jitted", "", ""}},
    {"calls out", {"outside_calls", "", ""}},
    {"time out", {"outside_time", "", ""}},
    {"routine", {"name", "routine", ""}},
    {"calling line", {"site", "", ""}},
};

// "base_ticks" of "*base".
std::string ColumnOfMeasure(std::string_view column, const Measure& measure) {
  if (!ConsumePrefix(column, "*")) return std::string(column);
  if (measure.is_chosen) return StrCat(measure.name, ".", column);
  if (measure.kind == Measure::Kind::kTicks) return StrCat(column, "_ticks");
  return measure.kind == Measure::Kind::kCalls ? "calls" : std::string(column);
}

bool HasColumn(const Table& table, std::string_view name) {
  const int index = table.Find(name);
  return index >= 0 && table.columns[static_cast<size_t>(index)].in != Column::In::kText;
}

}  // namespace

std::string ColumnNamed(std::string_view name, const Table& table, const Measure& measure) {
  if (HasColumn(table, name)) return std::string(name);
  for (const Alias& alias : kAliases) {
    if (alias.text != name) continue;
    for (const std::string_view column : alias.columns) {
      std::string own = ColumnOfMeasure(column, measure);
      if (!own.empty() && HasColumn(table, own)) return own;
    }
  }
  return "";
}

absl::Status CheckColumn(std::string_view sort, std::string_view report, const Table& table,
                         const Measure& measure) {
  if (sort == "first" || !ColumnNamed(sort, table, measure).empty()) return absl::OkStatus();
  std::vector<std::string_view> names;
  for (const size_t i : table.DataColumns()) names.push_back(table.columns[i].name);
  for (const Alias& alias : kAliases) {
    if (!ColumnNamed(alias.text, table, measure).empty()) names.push_back(alias.text);
  }
  return UsageError(absl::InvalidArgumentError(
      StrCat("--sort: ", report, " has no column '", sort, "'; nearest: ", Nearest(sort, names))));
}

void SortAsWanted(const ReportInput& input, Table& table) {
  if (input.options.sort.empty()) return;
  SortRows(table, ColumnNamed(input.options.sort, table, input.measure()));
}

}  // namespace jtrace::postproc
