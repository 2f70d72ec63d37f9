#include "postproc/report/table.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_format.h"
#include "common/json_writer.h"

namespace jtrace::postproc {

Cell Cell::Int(int64_t value) {
  Cell cell;
  cell.kind_ = Kind::kInt;
  cell.integer_ = value;
  return cell;
}

Cell Cell::Int(int64_t value, Style style) {
  Cell cell = Int(value);
  cell.style_ = style;
  return cell;
}

Cell Cell::Percent(double value) {
  Cell cell;
  cell.kind_ = Kind::kPercent;
  cell.percent_ = value;
  return cell;
}

Cell Cell::Text(std::string_view text) {
  Cell cell;
  cell.kind_ = Kind::kText;
  cell.text_ = text;
  return cell;
}

Cell Cell::As(Bound bound) const {
  Cell cell = *this;
  cell.bound_ = bound;
  return cell;
}

int Table::Find(std::string_view name) const {
  for (size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

std::vector<size_t> Table::DataColumns() const {
  std::vector<size_t> shown;
  for (size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].in != Column::In::kText) shown.push_back(i);
  }
  return shown;
}

void Table::MoveLast(std::string_view column) {
  const ptrdiff_t index = Find(column);
  if (index < 0) return;
  std::rotate(columns.begin() + index, columns.begin() + index + 1, columns.end());
  for (auto& row : rows) std::rotate(row.begin() + index, row.begin() + index + 1, row.end());
}

Style StyleOf(MetricUnit unit) {
  switch (unit) {
    case MetricUnit::kCount:
      return Style::kCount;
    case MetricUnit::kBytes:
      return Style::kBytes;
    case MetricUnit::kNanoseconds:
      return Style::kNanoseconds;
  }
  return Style::kPlain;
}

Style StyleOf(const Measure& measure) {
  switch (measure.kind) {
    case Measure::Kind::kCalls:
      return Style::kCount;
    case Measure::Kind::kTicks:
      return Style::kTicks;
    case Measure::Kind::kTime:
    case Measure::Kind::kOff:
      return Style::kTime;
    case Measure::Kind::kMetric:
      return StyleOf(measure.unit);
  }
  return Style::kPlain;
}

std::string FormatInteger(int64_t value, Style style, const Units& units) {
  switch (style) {
    case Style::kPlain:
      return absl::StrFormat("%d", value);
    case Style::kCount:
      return FormatCount(value);
    case Style::kTime:
      return units.Time(value);
    case Style::kTicks:
      return units.Ticks(value);
    case Style::kBytes:
      return FormatBytes(static_cast<double>(value));
    case Style::kNanoseconds:
      return FormatNanoseconds(static_cast<double>(value));
  }
  return "";
}

namespace {

void AddCsvField(std::string_view text, CsvText form, std::string& line) {
  constexpr std::string_view kFormulaStarts = "=+-@\t\r\n";
  const bool is_guarded = form == CsvText::kGuarded && !text.empty() &&
                          kFormulaStarts.find(text[0]) != std::string_view::npos;
  const std::string_view guard = is_guarded ? "'" : "";
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
    line.append(guard).append(text);
    return;
  }
  line.append("\"").append(guard);
  for (const char c : text) {
    if (c == '"') line += '"';
    line += c;
  }
  line += '"';
}

void AddCsvCell(const Cell& cell, CsvText form, std::string& line) {
  switch (cell.kind()) {
    case Cell::Kind::kEmpty:
      break;
    case Cell::Kind::kInt:
      StrAppend(&line, cell.integer());
      break;
    case Cell::Kind::kPercent:
      line += absl::StrFormat("%.2f", cell.percent());
      break;
    case Cell::Kind::kText:
      AddCsvField(cell.text(), form, line);
      break;
  }
}

std::string_view Mark(Cell::Bound bound) {
  switch (bound) {
    case Cell::Bound::kNone:
      break;
    case Cell::Bound::kAtLeast:
      return "≥ ";
    case Cell::Bound::kAtMost:
      return "≤ ";
  }
  return "";
}

std::string ShowCell(const Cell& cell, Style style, const Units& units) {
  switch (cell.kind()) {
    case Cell::Kind::kEmpty:
      return "";
    case Cell::Kind::kText:
      return Printable(cell.text());
    case Cell::Kind::kPercent:
      return FormatPercent(cell.percent());
    case Cell::Kind::kInt:
      break;
  }
  std::string shown(Mark(cell.bound()));
  return shown += FormatInteger(cell.integer(), cell.style().value_or(style), units);
}

bool IsBlank(const Cell& cell) {
  return cell.kind() == Cell::Kind::kEmpty ||
         (cell.kind() == Cell::Kind::kInt && cell.integer() == 0);
}

bool IsNumeric(const Table& table, size_t column) {
  return std::none_of(table.rows.begin(), table.rows.end(),
                      [&](const auto& row) { return row[column].kind() == Cell::Kind::kText; });
}

void Pad(std::ostream& out, int count) {
  for (; count > 0; --count) out << ' ';
}

// A column as shown in text.
struct ShownColumn {
  size_t index = 0;
  bool right = false;
  int width = 0;
  int rank = 0;
  bool plain = false;

  std::string Fit(const std::string& text, int room) const {
    return plain ? Shorten(text, room) : ShortenName(text, room);
  }
};

std::vector<ShownColumn> ShownColumns(const Table& table) {
  std::vector<ShownColumn> shown;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    if (table.columns[i].in == Column::In::kData) continue;
    const bool blank = std::all_of(table.rows.begin(), table.rows.end(),
                                   [&](const auto& row) { return IsBlank(row[i]); });
    if (blank && table.columns[i].optional) continue;
    const Column& column = table.columns[i];
    shown.push_back({i, IsNumeric(table, i), DisplayWidth(Printable(column.shown_name())),
                     column.rank, column.plain});
  }
  return shown;
}

void WriteLine(const std::vector<std::string>& cells, const std::vector<ShownColumn>& columns,
               int width, std::ostream& out) {
  int used = 0;
  for (size_t i = 0; i < columns.size(); ++i) {
    const bool last = i + 1 == columns.size();
    std::string cell = cells[i];
    if (last && width > 0) cell = columns[i].Fit(cell, std::max(width - used, 1));
    const int padding = columns[i].width - DisplayWidth(cell);
    if (columns[i].right) Pad(out, padding);
    out << cell;
    if (!last) {
      if (!columns[i].right) Pad(out, padding);
      out << "  ";
    }
    used += columns[i].width + 2;
  }
  out << '\n';
}

// Leaves out columns that may be, until texts have room; returns their names.
std::string DropColumns(const Table& table, std::vector<ShownColumn>& columns, int width) {
  constexpr int kEnough = 28, kEnoughForLast = 36;  // for a text
  std::string dropped;
  while (width > 0) {
    int needed = -2;
    auto least = columns.end();
    for (auto column = columns.begin(); column != columns.end(); ++column) {
      const int enough = column + 1 == columns.end() ? kEnoughForLast : kEnough;
      needed += 2 + (column->right ? column->width : std::min(column->width, enough));
      if (column->rank > 0 && (least == columns.end() || column->rank >= least->rank)) {
        least = column;
      }
    }
    if (needed <= width || least == columns.end()) break;
    dropped.insert(
        0, Printable(table.columns[least->index].shown_name()) + (dropped.empty() ? "" : ", "));
    columns.erase(least);
  }
  return dropped;
}

// Narrows text columns, the widest first, until a line fits.
void FitWidth(std::vector<ShownColumn>& columns, int width) {
  constexpr int kLeast = 16;
  if (width <= 0) return;
  int excess = -width;
  for (const ShownColumn& column : columns)
    excess += column.width + (&column == &columns.back() ? 0 : 2);
  while (excess > 0) {
    ShownColumn* widest = nullptr;
    for (ShownColumn& column : columns) {
      if (column.right || column.width <= kLeast) continue;
      if (widest == nullptr || column.width > widest->width) widest = &column;
    }
    if (widest == nullptr) return;
    --widest->width;
    --excess;
  }
}

}  // namespace

void Table::ForEachRow(Visit visit) const {
  for (const auto& row : rows) {
    if (!visit(row)) return;
  }
  if (pass_rows != nullptr) pass_rows(visit);
}

void Table::KeepRows() {
  if (pass_rows == nullptr) return;
  pass_rows([this](const std::vector<Cell>& row) {
    rows.push_back(row);
    return true;
  });
  pass_rows = nullptr;
}

bool Table::empty() const {
  bool is_empty = true;
  ForEachRow([&](const std::vector<Cell>&) { return is_empty = false; });
  return is_empty;
}

void WriteCsv(const Table& table, std::ostream& out, CsvText text) {
  std::string line;
  const std::vector<size_t> shown = table.DataColumns();
  for (const size_t i : shown) {
    if (!line.empty()) line += ',';
    AddCsvField(table.columns[i].name, text, line);
  }
  out << line << '\n';
  table.ForEachRow([&](const std::vector<Cell>& row) {
    line.clear();
    for (const size_t i : shown) {
      if (i != shown.front()) line += ',';
      AddCsvCell(row[i], text, line);
    }
    line += '\n';
    out << line;
    return static_cast<bool>(out);
  });
}

void WriteText(const Table& table, const TextLayout& layout, std::ostream& out) {
  std::vector<ShownColumn> columns = ShownColumns(table);
  const auto shown = [&](const std::vector<Cell>& row, const ShownColumn& column) {
    return ShowCell(row[column.index], table.columns[column.index].style, layout.units);
  };
  for (ShownColumn& column : columns) {
    for (const auto& row : table.rows) {
      column.width = std::max(column.width, DisplayWidth(shown(row, column)));
    }
  }
  const std::string dropped = DropColumns(table, columns, layout.width);
  FitWidth(columns, layout.width);
  const auto write = [&](std::vector<std::string> line) {
    for (size_t i = 0; i + 1 < columns.size(); ++i) {
      if (!columns[i].right && layout.width > 0) {
        line[i] = columns[i].Fit(line[i], columns[i].width);
      }
    }
    WriteLine(line, columns, layout.width, out);
  };
  std::vector<std::string> header;
  header.reserve(columns.size());
  for (const ShownColumn& column : columns) {
    header.push_back(Printable(table.columns[column.index].shown_name()));
  }
  write(std::move(header));
  for (const auto& row : table.rows) {
    std::vector<std::string> line;
    line.reserve(columns.size());
    for (const ShownColumn& column : columns) line.push_back(shown(row, column));
    write(std::move(line));
  }
  if (!dropped.empty()) out << "not shown at this width: " << dropped << " (--wide)\n";
}

namespace {

std::string JsonCell(const Cell& cell) {
  switch (cell.kind()) {
    case Cell::Kind::kEmpty:
      return "null";
    case Cell::Kind::kInt:
      return std::to_string(cell.integer());
    case Cell::Kind::kPercent:
      return JsonNumber(cell.percent());
    case Cell::Kind::kText:
      return JsonString(cell.text());
  }
  return "null";
}

}  // namespace

// Row by row: a report may be too large to keep as objects.
void WriteJson(std::string_view report, const Table& table, const Units& units, std::ostream& out) {
  const std::vector<size_t> shown = table.DataColumns();
  std::vector<std::string> keys;
  for (const Column& column : table.columns) keys.push_back(JsonString(column.name) + ":");
  out << "{\"report\":" << JsonString(report)
      << ",\"time_unit\":" << JsonString(TimeUnitName(units.time))
      << ",\"tick_ns\":" << units.interval_ns << ",\"rows\":[";
  const char* separator = "\n{";
  table.ForEachRow([&](const std::vector<Cell>& row) {
    out << separator;
    separator = ",\n{";
    for (const size_t i : shown) {
      out << (i == shown.front() ? "" : ",") << keys[i] << JsonCell(row[i]);
    }
    out << '}';
    return static_cast<bool>(out);
  });
  out << "]}\n";
}

}  // namespace jtrace::postproc
