// Which share of lines or branches ran, by package, class and method (S4.6).
#include <string>
#include <utility>
#include <vector>

#include "postproc/report/line_cells.h"
#include "postproc/report/report.h"
#include "postproc/report/units.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

std::string_view ByName(CoverageBy by) { return by == CoverageBy::kLines ? "lines" : "branches"; }

// Of nothing there is no share.
Cell ShareCell(const Covered& counted) {
  return counted.total == 0 ? Cell::Empty() : Cell::Percent(counted.percent());
}

// The name below its parent's: "Outer$Inner" of "com.acme.Outer$Inner".
std::string ShortName(const CoverageRow& row, std::string_view parent) {
  std::string_view name = row.name;
  if (name.starts_with(parent) && name.size() > parent.size() && name[parent.size()] == '.') {
    name.remove_prefix(parent.size() + 1);
  }
  return std::string(name);
}

// Methods are shown where there is room for them, or where the user chose some.
bool ShowsMethods(const ReportOptions& options) { return options.wide || !options.of.empty(); }

// Packages, classes, methods, each level two columns further to the right.
Table TreeTable(const ReportInput& input, const std::vector<CoverageRow>& rows) {
  Table table;
  table.columns = {{"percent"},
                   {"covered", Style::kCount},
                   {"total", Style::kCount},
                   {"methods_run", Style::kCount},
                   {"methods", Style::kCount},
                   {"name"}};
  std::string parents[4];
  for (const CoverageRow& row : rows) {
    const auto level = static_cast<size_t>(row.level);
    parents[level] = row.name;
    if (row.level == CoverageLevel::kProgram) continue;
    if (row.level == CoverageLevel::kMethod && !ShowsMethods(input.options)) continue;
    const std::string indent((level - 1) * 2, ' ');
    table.rows.push_back({ShareCell(row.counted), Cell::Int(row.counted.covered),
                          Cell::Int(row.counted.total), Cell::Int(row.methods_run),
                          Cell::Int(row.methods),
                          Cell::Text(StrCat(indent, ShortName(row, parents[level - 1])))});
  }
  return table;
}

Table CoverageTable(const ReportInput& input) {
  Table table;
  table.columns = {{"level"},
                   {"name"},
                   {"total", Style::kCount},
                   {"covered", Style::kCount},
                   {"percent"},
                   {"methods", Style::kCount},
                   {"methods_run", Style::kCount},
                   {"methods_without_lines", Style::kCount, true},
                   {"methods_never_loaded", Style::kCount, true}};
  for (const CoverageRow& row : CoverageTree(SelectedMethods(input), input.options.by)) {
    table.rows.push_back({Cell::Text(CoverageLevelName(row.level)), Cell::Text(row.name),
                          Cell::Int(row.counted.total), Cell::Int(row.counted.covered),
                          ShareCell(row.counted), Cell::Int(row.methods),
                          Cell::Int(row.methods_run), Cell::Int(row.methods_without_lines),
                          Cell::Int(row.methods_never_loaded)});
  }
  return table;
}

void CoverageText(const ReportInput& input, std::ostream& out) {
  const Methods methods = SelectedMethods(input);
  const std::vector<CoverageRow> rows = CoverageTree(methods, input.options.by);
  const CoverageRow& all = rows.front();
  out << CoveredText(all.counted, ByName(input.options.by)) << "; " << FormatCount(all.methods_run)
      << " of " << Counted(all.methods, "method") << " ran\n"
      << NeverLoadedText(methods) << MissingText(input, methods) << '\n';
  Table table;
  if (input.options.sort.empty()) {
    table = TreeTable(input, rows);
  } else {
    // Rows of all levels: in another order they do not form a tree.
    table = CoverageTable(input);
    SortRows(table, input.options.sort);
    table.MoveLast("name");
  }
  const size_t shown = table.rows.size();
  LimitRows(table, input.options.top);
  WriteText(table, input.layout(), out);
  if (table.rows.size() < shown) out << "… " << shown - table.rows.size() << " more\n";
}

}  // namespace

extern const Report kCoverageReport = {
    .name = "coverage",
    .group = ReportGroup::kLines,
    .summary = "the share of lines or branches that ran, by package and class (blocks=on)",
    .example = "jtrace-post --report=coverage --by=branches trace.bin",
    .needs = kNeedsLines,
    .accepts = kAcceptsSort | kAcceptsTop | kAcceptsScope | kAcceptsBy | kAcceptsClasses,
    .table = CoverageTable,
    .text = CoverageText,
};

}  // namespace jtrace::postproc
