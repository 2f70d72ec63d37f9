// Callers and callees of every routine (FIG. 27, S4.3).
#include <algorithm>

#include "absl/strings/str_format.h"
#include "postproc/report/report.h"
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

std::vector<Cell> ArcRow(const FlatRow& self, const Arc& arc, const FlatRow& other) {
  return {Cell::Text(self.name),
          Cell::Text(KindName(arc.kind)),
          Cell::Int(arc.calls),
          Cell::Int(arc.base),
          Cell::Int(arc.cum),
          Cell::Empty(),
          Cell::Int(arc.base_ticks),
          Cell::Int(arc.cum_ticks),
          Cell::Empty(),
          Cell::Text(other.name),
          Cell::Empty(),
          Cell::Empty()};
}

std::vector<Cell> SelfRow(const FlatRow& self) {
  return {Cell::Text(self.name),
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
}

// The stanzas that --filter and --top leave. Text leaves the threads to the threads report.
std::vector<const Stanza*> ChosenStanzas(const ReportInput& input, bool with_roots) {
  std::vector<const Stanza*> chosen;
  const HeatMap heat = ComputeHeat(input);
  for (const Stanza& stanza : input.arcs.stanzas()) {
    const FlatRow& self = input.flat.rows()[stanza.self];
    if (self.is_root && !with_roots) continue;
    if (input.options.counted_only && self.calls == 0) continue;
    const int64_t inclusive = heat.unit == Heat::kTicks  ? self.cum_ticks
                              : heat.unit == Heat::kTime ? self.cum
                                                         : self.calls;
    if (PercentOf(inclusive, heat.whole) < input.options.filter_percent) continue;
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
  for (const Stanza* stanza : ChosenStanzas(input, /*with_roots=*/true)) {
    const FlatRow& self = input.flat.rows()[stanza->self];
    bool self_written = false;
    for (const Arc& arc : stanza->arcs) {
      if (!IsCaller(arc.kind) && !self_written) {
        table.rows.push_back(SelfRow(self));
        self_written = true;
      }
      table.rows.push_back(ArcRow(self, arc, input.flat.rows()[arc.other]));
    }
    if (!self_written) table.rows.push_back(SelfRow(self));
  }
  return table;
}

namespace {

void WriteArcLine(const ReportInput& input, Heat unit, std::string_view mark, int64_t calls,
                  int64_t self, int64_t total, std::string_view name, std::ostream& out) {
  std::string line = PadLeft(calls == 0 ? "" : FormatCount(calls), 15);
  if (unit != Heat::kCalls) {
    line += PadLeft(self == 0 ? "" : FormatHeat(input, unit, self), 11);
    line += PadLeft(total == 0 ? "" : FormatHeat(input, unit, total), 11);
  }
  line.append("  ").append(mark);
  const int used = DisplayWidth(line);
  line += input.options.width > 0 ? ShortenName(name, std::max(input.options.width - used, 16))
                                  : std::string(name);
  out << line << '\n';
}

constexpr size_t kMaxArcsShown = 6;  // callers, and callees, of a stanza in text

std::string OtherName(const FlatRow& row) {
  return row.is_root ? StrCat("thread ", row.name) : std::string(row.name);
}

void WriteStanza(const ReportInput& input, Heat unit, const Stanza& stanza, std::ostream& out) {
  const bool by_ticks = unit == Heat::kTicks;
  const FlatRow& self = input.flat.rows()[stanza.self];
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
      WriteArcLine(input, unit, mark, arc.calls, by_ticks ? arc.base_ticks : arc.base,
                   by_ticks ? arc.cum_ticks : arc.cum, OtherName(input.flat.rows()[arc.other]),
                   out);
    }
    if (left > 0) {
      out << absl::StrFormat("%*s    … %d more %s\n", unit == Heat::kCalls ? 17 : 39, "", left,
                             callers ? "callers" : "callees");
    }
  };
  write_arcs(true);
  WriteArcLine(input, unit, "● ", self.calls, by_ticks ? self.base_ticks : self.base,
               by_ticks ? self.cum_ticks : self.cum, self.name, out);
  write_arcs(false);
}

}  // namespace

void ArcFlowText(const ReportInput& input, std::ostream& out) {
  const Heat unit = HeatOf(input);
  out << "          calls";
  if (unit != Heat::kCalls) out << "       self      total";
  out << "  ┌ caller ● routine └ callee ↻ recursive\n";
  bool first = true;
  for (const Stanza* stanza : ChosenStanzas(input, /*with_roots=*/false)) {
    if (!first) out << '\n';
    first = false;
    WriteStanza(input, unit, *stanza, out);
  }
  const InvariantCheck check = input.arcs.Check();
  out << absl::StrFormat("\ninvariants: %d of 4 hold over %s stanzas\n", check.held(),
                         FormatCount(check.stanzas));
}

}  // namespace jtrace::postproc
