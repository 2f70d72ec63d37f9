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

std::vector<Cell> ArcRow(const ReportInput& input, const FlatRow& self, const Arc& arc) {
  std::vector<Cell> row = {Cell::Text(self.name),
                           Cell::Text(KindName(arc.kind)),
                           Cell::Int(arc.calls),
                           Cell::Int(arc.base),
                           Cell::Int(arc.cum),
                           Cell::Empty(),
                           Cell::Int(arc.base_ticks),
                           Cell::Int(arc.cum_ticks),
                           Cell::Empty(),
                           Cell::Text(input.flat.rows()[arc.other].name),
                           Cell::Empty(),
                           Cell::Empty()};
  AddMeasureCells(input, {arc.measure_base, arc.measure_cum, std::nullopt}, row);
  return row;
}

std::vector<Cell> SelfRow(const ReportInput& input, const FlatRow& self) {
  std::vector<Cell> row = {Cell::Text(self.name),
                           Cell::Text("self"),
                           Cell::Int(self.calls),
                           Cell::Int(self.base),
                           Cell::Int(self.cum),
                           Cell::Int(self.cum2),
                           Cell::Int(self.base_ticks),
                           Cell::Int(self.cum_ticks),
                           Cell::Int(self.cum2_ticks),
                           Cell::Text(self.name),
                           self.has_extremes ? Cell::Int(self.min_base) : Cell::Empty(),
                           self.has_extremes ? Cell::Int(self.max_base) : Cell::Empty()};
  AddMeasureCells(input, {self.measure.base, self.measure.cum, self.measure.cum2}, row);
  return row;
}

// The stanzas that --filter and --top leave. In text the threads report shows the threads.
std::vector<const Stanza*> ChosenStanzas(const ReportInput& input, bool with_roots) {
  std::vector<const Stanza*> chosen;
  for (const Stanza& stanza : input.arcs.stanzas()) {
    const FlatRow& self = input.flat.rows()[stanza.self];
    if (self.is_root && !with_roots) continue;
    if (input.options.counted_only && self.calls == 0) continue;
    if (IsFiltered(input, self.measure.cum, input.measure.whole)) continue;
    chosen.push_back(&stanza);
    if (input.options.top > 0 && chosen.size() == static_cast<uint64_t>(input.options.top)) break;
  }
  return chosen;
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
  AddMeasureColumns(input, MeasureColumns::kBaseCumCum2, table);
  for (const Stanza* stanza : ChosenStanzas(input, /*with_roots=*/true)) {
    const FlatRow& self = input.flat.rows()[stanza->self];
    bool self_written = false;
    for (const Arc& arc : stanza->arcs) {
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

void WriteArcLine(const ReportInput& input, std::string_view mark, int64_t calls, int64_t self,
                  int64_t total, std::string_view name, std::ostream& out) {
  std::string line = PadLeft(calls == 0 ? "" : FormatCount(calls), kCallsWidth);
  if (const int width = AmountWidth(input.measure); width > 0) {
    line += PadLeft(self == 0 ? "" : FormatMeasure(input, self), width);
    line += PadLeft(total == 0 ? "" : FormatMeasure(input, total), width);
  }
  line.append("  ").append(mark);
  const int used = DisplayWidth(line);
  line += FitName(name, input.options.width, used);
  out << line << '\n';
}

constexpr size_t kMaxArcsShown = 6;  // callers, and callees, of a stanza in text

std::string OtherName(const FlatRow& row) {
  return row.is_root ? StrCat("thread ", row.name) : std::string(row.name);
}

void WriteStanza(const ReportInput& input, const Stanza& stanza, std::ostream& out) {
  const FlatRow& self = input.flat.rows()[stanza.self];
  const int indent = kCallsWidth + 2 * AmountWidth(input.measure) + 2;
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
      WriteArcLine(input, mark, arc.calls, arc.measure_base, arc.measure_cum,
                   OtherName(input.flat.rows()[arc.other]), out);
    }
    if (left > 0) {
      out << absl::StrFormat("%*s    … %d more %s\n", indent, "", left,
                             callers ? "callers" : "callees");
    }
  };
  write_arcs(true);
  WriteArcLine(input, "● ", self.calls, self.measure.base, self.measure.cum, self.name, out);
  write_arcs(false);
}

}  // namespace

void ArcFlowText(const ReportInput& input, std::ostream& out) {
  out << PadLeft("calls", kCallsWidth);
  if (const int width = AmountWidth(input.measure); width > 0) {
    out << PadLeft("self", width) << PadLeft("total", width);
  }
  out << "  ┌ caller ● routine └ callee ↻ recursive" << ByMeasure(input) << '\n';
  bool first = true;
  for (const Stanza* stanza : ChosenStanzas(input, /*with_roots=*/false)) {
    if (!first) out << '\n';
    first = false;
    WriteStanza(input, *stanza, out);
  }
  const InvariantCheck check = input.arcs.Check();
  out << absl::StrFormat("\ninvariants: %d of 4 hold over %s stanzas\n", check.held(),
                         FormatCount(check.stanzas));
}

}  // namespace jtrace::postproc
