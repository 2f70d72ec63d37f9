// A report as rows and columns, and its forms: CSV (RFC 4180, exact numbers) and aligned text
// (thousands separators, units, names shortened in the middle to fit the width).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "postproc/calltree/measure.h"
#include "postproc/model/metric_info.h"
#include "postproc/report/shorten.h"
#include "postproc/report/units.h"

namespace jtrace::postproc {

// How text shows integers: in the trace's unit, in ticks, and in the units of metrics.
enum class Style : uint8_t { kPlain, kCount, kTime, kTicks, kBytes, kNanoseconds };
Style StyleOf(MetricUnit unit);
Style StyleOf(const Measure& measure);
std::string FormatInteger(int64_t value, Style style, const Units& units);

// One value; the column defines how text shows it.
class Cell {
 public:
  static Cell Empty() { return Cell(); }
  static Cell Int(int64_t value);
  // In a separate unit, not the column's.
  static Cell Int(int64_t value, Style style);
  // In percent already: 33.33.
  static Cell Percent(double value);
  static Cell Text(std::string_view text);

  // The value shown is a lower or an upper bound of the true value. Text marks it, CSV does not.
  enum class Bound : uint8_t { kNone, kAtLeast, kAtMost };
  Cell As(Bound bound) const;
  Bound bound() const { return bound_; }

  enum class Kind : uint8_t { kEmpty, kInt, kPercent, kText };
  Kind kind() const { return kind_; }
  int64_t integer() const { return integer_; }
  double percent() const { return percent_; }
  const std::string& text() const { return text_; }
  // None: the column's.
  std::optional<Style> style() const { return style_; }

 private:
  Kind kind_ = Kind::kEmpty;
  int64_t integer_ = 0;
  double percent_ = 0;
  std::string text_;
  std::optional<Style> style_;
  Bound bound_ = Bound::kNone;
};

// The least and greatest self time of a call, of a row or an arc that sums up nodes; empty if they
// are not known. `is_bound`: they are bounds.
template <typename Sums>
Cell LeastCell(const Sums& sums, bool is_bound) {
  if (!sums.has_extremes) return Cell::Empty();
  return Cell::Int(sums.min_base).As(is_bound ? Cell::Bound::kAtLeast : Cell::Bound::kNone);
}
template <typename Sums>
Cell MostCell(const Sums& sums, bool is_bound) {
  if (!sums.has_extremes) return Cell::Empty();
  return Cell::Int(sums.max_base).As(is_bound ? Cell::Bound::kAtMost : Cell::Bound::kNone);
}

// A column's name and style.
struct Column {
  std::string name;  // the CSV header and what --sort takes
  Style style = Style::kPlain;
  // Text only: if set, columns in which all values are 0 are left out.
  bool optional = false;
  // Text only: where a line has no room, columns with the highest rank are left out first; 0:
  // never.
  int rank = 0;
  // Text only: no names of routines or classes; they lose their middle.
  bool plain = false;
  // Text only: the header in place of the name.
  std::string label = {};
  // Which forms have it.
  enum class In : uint8_t { kAll, kText, kData };
  In in = In::kAll;

  Column Ranked(int of) const {
    Column column = *this;
    column.rank = of;
    return column;
  }
  Column AsPlain() const {
    Column column = *this;
    column.plain = true;
    return column;
  }
  Column Labelled(std::string_view text) const {
    Column column = *this;
    column.label = text;
    return column;
  }
  Column Only(In form) const {
    Column column = *this;
    column.in = form;
    return column;
  }
  const std::string& shown_name() const { return label.empty() ? name : label; }
};

struct Table {
  using Visit = absl::FunctionRef<bool(const std::vector<Cell>& row)>;

  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;
  // In place of `rows`, where these would be too many to keep: passes them on one by one, as long
  // as `visit` returns true. Only for CSV and JSON.
  std::function<void(Visit visit)> pass_rows;

  void ForEachRow(Visit visit) const;
  // Keeps what pass_rows passes on in `rows`, to sort it.
  void KeepRows();
  bool empty() const;

  // Index of the named column, or -1.
  int Find(std::string_view name) const;
  // Indexes of the columns that CSV and JSON have.
  std::vector<size_t> DataColumns() const;
  // For text, whose last column gets the rest of the line.
  void MoveLast(std::string_view column);
};

// A column, and what it shows of a row of that type.
template <typename Row>
struct ColumnOf {
  Column column;
  std::function<Cell(const Row& row)> cell;
};

template <typename Row, typename Rows>
Table MakeTable(const std::vector<ColumnOf<Row>>& columns, const Rows& rows) {
  Table table;
  for (const ColumnOf<Row>& it : columns) table.columns.push_back(it.column);
  for (const Row& row : rows) {
    std::vector<Cell>& cells = table.rows.emplace_back();
    for (const ColumnOf<Row>& it : columns) cells.push_back(it.cell(row));
  }
  return table;
}

// Unchanged, or with ' before text that a spreadsheet would run as a formula: text that begins with
// = + - @, a tab or the end of a line.
enum class CsvText { kAsItIs, kGuarded };
void WriteCsv(const Table& table, std::ostream& out, CsvText text = CsvText::kAsItIs);

// The settings of WriteText.
struct TextLayout {
  int width = 120;  // columns of the terminal; 0: no limit
  Units units;
};
// Numbers are right-aligned, the last column gets the rest of the width. The method's own name is
// never cut. A last line names the columns that had no room.
void WriteText(const Table& table, const TextLayout& layout, std::ostream& out);

// {"report":…,"time_unit":…,"tick_ns":…,"rows":[{column: value, …}, …]}, a line for each row;
// several reports are a stream of JSON values (as jq and similar tools read them). Empty cells are
// null, tick_ns is 0 if it is not known.
void WriteJson(std::string_view report, const Table& table, const Units& units, std::ostream& out);

}  // namespace jtrace::postproc
