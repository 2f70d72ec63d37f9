// Callers and callees of every routine (FIG. 27, S4.3).
#include <algorithm>

#include "absl/strings/str_format.h"
#include "postproc/report/report.h"
#include "postproc/report/units.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

std::string_view KindName(ArcKind kind) {
  switch (kind) {
    case ArcKind::kParent:
      return "parent";
    case ArcKind::kRecursiveParent:
      return "rparent";
    case ArcKind::kChild:
      return "child";
    case ArcKind::kRecursiveChild:
      return "rchild";
  }
  return "";
}

bool IsCaller(ArcKind kind) {
  return kind == ArcKind::kParent || kind == ArcKind::kRecursiveParent;
}

std::string_view ArcCaller(const ReportInput& input, const FlatRow& self, const Arc& arc) {
  return IsCaller(arc.kind) ? input.flat.rows()[arc.other].name : self.name;
}

// "a.A.f():120", "" if it is unknown.
std::string SiteOf(const ReportInput& input, const FlatRow& self, const Arc& arc) {
  if (arc.place == kNoCallPlace) return "";
  return StrCat(ArcCaller(input, self, arc), PlaceText(arc.place));
}

// Of the other routine; with a site that of the call: "a.A.f():120 > a.B.g()".
std::string ArcName(const ReportInput& input, const FlatRow& self, const Arc& arc) {
  const std::string_view other = input.flat.rows()[arc.other].name;
  if (arc.place == kNoCallPlace) return std::string(other);
  return StrCat(SiteOf(input, self, arc), " > ", IsCaller(arc.kind) ? self.name : other);
}

std::vector<Cell> ArcRow(const ReportInput& input, const FlatRow& self, const Arc& arc) {
  const bool is_caller = IsCaller(arc.kind);
  const bool rough = arc.has_rough_extremes;
  std::vector<Cell> row = {Cell::Text(self.name),
                           Cell::Text(KindName(arc.kind)),
                           Cell::Int(arc.calls),
                           Cell::Int(arc.base),
                           Cell::Int(arc.cum),
                           Cell::Empty(),
                           Cell::Int(arc.base_ticks),
                           Cell::Int(arc.cum_ticks),
                           Cell::Empty(),
                           Cell::Text(ArcName(input, self, arc)),
                           is_caller ? LeastCell(arc, rough) : Cell::Empty(),
                           is_caller ? MostCell(arc, rough) : Cell::Empty()};
  row.insert(row.end(), 2, Cell::Empty());  // AddOutsideCells
  AddMeasureCells(input, {arc.measure_base, arc.measure_cum, std::nullopt}, row);
  if (input.tree.has_places()) row.push_back(Cell::Text(SiteOf(input, self, arc)));
  return row;
}

std::vector<Cell> SelfRow(const ReportInput& input, const FlatRow& self) {
  const bool rough = self.has_bounds || self.has_rough_extremes;
  std::vector<Cell> row = {
      Cell::Text(self.name),      Cell::Text("self"),        Cell::Int(self.calls),
      Cell::Int(self.base),       Cell::Int(self.cum),       Cell::Int(self.cum2),
      Cell::Int(self.base_ticks), Cell::Int(self.cum_ticks), Cell::Int(self.cum2_ticks),
      Cell::Text(self.name),      LeastCell(self, rough),    MostCell(self, rough)};
  AddOutsideCells(self, row);
  AddMeasureCells(input, {self.measure.base, self.measure.cum, self.measure.cum2}, row);
  if (input.tree.has_places()) row.push_back(Cell::Text(""));
  return row;
}

// The stanzas that --filter and --top leave. In text the threads report shows the threads.
std::vector<Stanza> ChosenStanzas(const ReportInput& input, bool with_roots) {
  std::vector<uint32_t> chosen;
  for (const uint32_t row : input.flat.Sorted()) {
    const FlatRow& self = input.flat.rows()[row];
    if (self.is_root && !with_roots) continue;
    if (input.options.counted_only && self.calls == 0) continue;
    if (IsFiltered(input, self.measure.cum, input.measure.whole)) continue;
    chosen.push_back(row);
    if (input.options.top > 0 && chosen.size() == static_cast<uint64_t>(input.options.top)) break;
  }
  return input.arcs.Stanzas(chosen);
}

}  // namespace

Table ArcFlowTable(const ReportInput& input) {
  Table table;
  table.columns = {{"self"},
                   {"row"},
                   {"calls", Style::kCount},
                   {"base", Style::kTime},
                   {"cum", Style::kTime},
                   {"cum2", Style::kTime},
                   {"base_ticks", Style::kTicks},
                   {"cum_ticks", Style::kTicks},
                   {"cum2_ticks", Style::kTicks},
                   {"name"},
                   {"min_base", Style::kTime},
                   {"max_base", Style::kTime}};
  AddOutsideColumns(table);
  AddMeasureColumns(input, MeasureColumns::kBaseCumCum2, table);
  if (input.tree.has_places()) table.columns.push_back({"site"});
  for (const Stanza& stanza : ChosenStanzas(input, /*with_roots=*/true)) {
    const FlatRow& self = input.flat.rows()[stanza.self];
    bool self_written = false;
    for (const Arc& arc : stanza.arcs) {
      if (!IsCaller(arc.kind) && !self_written) {
        table.rows.push_back(SelfRow(input, self));
        self_written = true;
      }
      table.rows.push_back(ArcRow(input, self, arc));
    }
    if (!self_written) table.rows.push_back(SelfRow(input, self));
  }
  return table;
}

namespace {

// For self and total; counts are not scaled. 0: calls are enough.
int AmountWidth(const Measure& measure) {
  if (!measure.is_more_than_calls()) return 0;
  return StyleOf(measure) == Style::kCount ? kCallsWidth : 11;
}

constexpr int kExtremeWidth = 10;

// Of the self time of a call; only a clock knows them.
bool ShowsExtremes(const ReportInput& input) {
  return input.measure.kind == Measure::Kind::kTime && !input.measure.is_chosen;
}

// "≤ 3.1 ms"
std::string ExtremeText(const ReportInput& input, const Cell& cell) {
  if (cell.kind() == Cell::Kind::kEmpty) return "";
  const std::string_view bound = cell.bound() == Cell::Bound::kAtLeast  ? "≥"
                                 : cell.bound() == Cell::Bound::kAtMost ? "≤"
                                                                        : "";
  return StrCat(bound, FormatInteger(cell.integer(), Style::kTime, input.units()));
}

// A line's numbers; an arc to a callee has no extremes.
struct Amounts {
  int64_t calls = 0;
  int64_t self = 0;
  int64_t total = 0;
  Cell least = {};
  Cell most = {};
};

void WriteArcLine(const ReportInput& input, std::string_view mark, const Amounts& amounts,
                  std::string_view name, std::ostream& out) {
  const auto& [calls, self, total, least, most] = amounts;
  std::string line = PadLeft(calls == 0 ? "" : FormatCount(calls), kCallsWidth);
  if (const int width = AmountWidth(input.measure); width > 0) {
    line += PadLeft(self == 0 ? "" : FormatMeasure(input, self), width);
    line += PadLeft(total == 0 ? "" : FormatMeasure(input, total), width);
  }
  if (ShowsExtremes(input)) {
    line += PadLeft(ExtremeText(input, least), kExtremeWidth);
    line += PadLeft(ExtremeText(input, most), kExtremeWidth);
  }
  line.append("  ").append(mark);
  const int used = DisplayWidth(line);
  line += FitName(name, input.options.width, used);
  out << line << '\n';
}

constexpr size_t kMaxArcsShown = 6;  // callers, and callees, of a stanza in text

// With the line that calls: that of the caller, or of the stanza's routine.
std::string OtherName(const FlatRow& row, const Arc& arc) {
  if (row.is_root) return StrCat("thread ", row.name);
  if (arc.place == kNoCallPlace) return std::string(row.name);
  return IsCaller(arc.kind) ? StrCat(row.name, PlaceText(arc.place))
                            : StrCat(PlaceText(arc.place), " > ", row.name);
}

void WriteStanza(const ReportInput& input, const Stanza& stanza, std::ostream& out) {
  const FlatRow& self = input.flat.rows()[stanza.self];
  const int extremes = ShowsExtremes(input) ? 2 * kExtremeWidth : 0;
  const int indent = kCallsWidth + 2 * AmountWidth(input.measure) + extremes + 2;
  const auto write_arcs = [&](bool callers) {
    size_t shown = 0;
    size_t left = 0;
    for (const Arc& arc : stanza.arcs) {
      if (IsCaller(arc.kind) != callers) continue;
      if (input.options.top > 0 && shown == kMaxArcsShown) {
        ++left;
        continue;
      }
      ++shown;
      const bool recursive =
          arc.kind == ArcKind::kRecursiveParent || arc.kind == ArcKind::kRecursiveChild;
      const std::string_view mark =
          callers ? (recursive ? "  ↻ " : "  ┌ ") : (recursive ? "  ↻ " : "  └ ");
      const bool rough = arc.has_rough_extremes;
      WriteArcLine(
          input, mark,
          {arc.calls, arc.measure_base, arc.measure_cum, callers ? LeastCell(arc, rough) : Cell(),
           callers ? MostCell(arc, rough) : Cell()},
          OtherName(input.flat.rows()[arc.other], arc), out);
    }
    if (left > 0) {
      out << absl::StrFormat(
          "%*s    … %s\n", indent, "",
          Counted(static_cast<int64_t>(left), callers ? "more caller" : "more callee"));
    }
  };
  write_arcs(true);
  const bool rough = self.has_bounds || self.has_rough_extremes;
  WriteArcLine(input, "● ",
               {self.calls, self.measure.base, self.measure.cum, LeastCell(self, rough),
                MostCell(self, rough)},
               self.name, out);
  write_arcs(false);
}

}  // namespace

void ArcFlowText(const ReportInput& input, std::ostream& out) {
  out << PadLeft("calls", kCallsWidth);
  if (const int width = AmountWidth(input.measure); width > 0) {
    out << PadLeft("self", width) << PadLeft("total", width);
  }
  if (ShowsExtremes(input)) {
    out << PadLeft("min self", kExtremeWidth) << PadLeft("max self", kExtremeWidth);
  }
  out << "  ┌ caller ● routine └ callee ↻ recursive" << ByMeasure(input) << '\n';
  bool first = true;
  const std::vector<Stanza> stanzas = ChosenStanzas(input, /*with_roots=*/false);
  for (const Stanza& stanza : stanzas) {
    if (!first) out << '\n';
    first = false;
    WriteStanza(input, stanza, out);
  }
  const InvariantCheck check = input.arcs.Check(stanzas);
  out << "\ninvariants: " << check.held() << " of 4 hold over " << Counted(check.stanzas, "stanza")
      << '\n';
}

}  // namespace jtrace::postproc
