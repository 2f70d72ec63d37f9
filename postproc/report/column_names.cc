#include "postproc/report/column_names.h"

#include <array>
#include <iterator>

#include "common/nearest.h"
#include "postproc/support/error_kind.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
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
