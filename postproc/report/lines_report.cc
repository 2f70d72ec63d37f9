// How often each source line ran (blocks=on).
#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "postproc/report/line_cells.h"
#include "postproc/report/report.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

// A line of a method.
struct MethodLine {
  const MethodLines* method = nullptr;
  const LineCounts* counts = nullptr;
};

uint64_t InstructionsOf(const Methods& methods) {
  uint64_t sum = 0;
  for (const MethodLines* method : methods) {
    for (const LineCounts& line : method->lines) sum = AddCounts(sum, line.instructions);
  }
  return sum;
}

// By class, method, line.
std::vector<MethodLine> LinesOf(const ReportInput& input, const Methods& methods) {
  const int64_t whole = ToInteger(InstructionsOf(methods));
  std::vector<MethodLine> lines;
  for (const MethodLines* method : methods) {
    for (const LineCounts& line : method->lines) {
      if (!IsFiltered(input, ToInteger(line.instructions), whole)) lines.push_back({method, &line});
    }
  }
  std::stable_sort(lines.begin(), lines.end(), [](const MethodLine& a, const MethodLine& b) {
    return std::tie(a.method->class_name, a.method->name, a.counts->line) <
           std::tie(b.method->class_name, b.method->name, b.counts->line);
  });
  return lines;
}

std::vector<Column> CountColumns() {
  return {{"executions", Style::kCount},
          {"instructions", Style::kCount},
          Column{"cycles", Style::kCount}.Ranked(2),
          {"branches", Style::kCount, true},
          Column{"branches_taken", Style::kCount, true}.Ranked(1),
          {"self_ticks", Style::kTicks, true}};
}

void AddCountCells(const LineCounts& line, std::vector<Cell>& row) {
  row.push_back(CountCell(line.executions));
  row.push_back(CountCell(line.instructions));
  row.push_back(CountCell(line.cycles));
  row.push_back(Cell::Int(line.branches));
  row.push_back(Cell::Int(line.branches_taken));
  row.push_back(Cell::Int(line.ticks));
}

Table LinesTable(const ReportInput& input) {
  Table table;
  table.columns = {{"class"}, {"method"}, {"line"}};
  for (Column& column : CountColumns()) table.columns.push_back(std::move(column));
  table.columns.push_back({"file"});
  for (const MethodLine& line : LinesOf(input, SelectedMethods(input))) {
    table.rows.push_back({Cell::Text(line.method->class_name), Cell::Text(line.method->name),
                          Cell::Int(line.counts->line)});
    AddCountCells(*line.counts, table.rows.back());
    table.rows.back().push_back(Cell::Text(SourcePath(*line.method)));
  }
  return table;
}

// The same with the share of all instructions, and the line as one name in place of three columns.
// The names of columns are those that --sort takes.
Table TextTable(const ReportInput& input, const Methods& methods) {
  const int64_t whole = ToInteger(InstructionsOf(methods));
  Table table;
  table.columns = CountColumns();
  table.columns.push_back({"percent"});
  table.columns.push_back({"line"});
  Table by_line = LinesTable(input);
  SortRows(by_line, input.options.sort.empty() ? "instructions" : input.options.sort);
  LimitRows(by_line, input.options.top);
  for (const std::vector<Cell>& row : by_line.rows) {
    std::vector<Cell> cells(row.begin() + 3, row.end() - 1);
    cells.push_back(Cell::Percent(PercentOf(row[4].integer(), whole)));
    cells.push_back(Cell::Text(StrCat(row[0].text(), ".", row[1].text(), ":", row[2].integer())));
    table.rows.push_back(std::move(cells));
  }
  return table;
}

// The lines with the most instructions first.
void LinesText(const ReportInput& input, std::ostream& out) {
  const Methods methods = SelectedMethods(input);
  Covered covered;
  for (const CountedFile& file : CountedFiles(methods)) covered.Add(CoveredLines(file.lines));
  out << CoveredText(covered, "lines") << "; " << FormatCount(ToInteger(InstructionsOf(methods)))
      << " bytecode instructions\n"
      << MissingText(input, methods) << '\n';
  const Table table = TextTable(input, methods);
  WriteText(table, input.layout(), out);
}

}  // namespace

extern const Report kLinesReport = {
    .name = "lines",
    .group = ReportGroup::kLines,
    .summary = "how often each source line ran, and its branches (blocks=on)",
    .example = "jtrace-post --report=lines --top=20 trace.bin",
    .needs = kNeedsLines,
    .accepts = kAcceptsSort | kAcceptsTop | kAcceptsFilter | kAcceptsScope | kAcceptsClasses,
    .table = LinesTable,
    .text = LinesText,
};

}  // namespace jtrace::postproc
