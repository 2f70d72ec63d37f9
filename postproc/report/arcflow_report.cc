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
  return IsCaller(arc.kind) ? input.flat().rows()[arc.other].name : self.name;
}

// "a.A.f():120", "" if it is unknown.
std::string SiteOf(const ReportInput& input, const FlatRow& self, const Arc& arc) {
  if (arc.place == kNoCallSite) return "";
  return StrCat(ArcCaller(input, self, arc), PlaceText(arc.place));
}

// Of the other routine; with a site that of the call: "a.A.f():120 > a.B.g()".
std::string ArcName(const ReportInput& input, const FlatRow& self, const Arc& arc) {
  const std::string_view other = input.flat().rows()[arc.other].name;
  if (arc.place == kNoCallSite) return std::string(other);
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

// Callers, the routine itself, callees. False: no more rows are wanted.
bool PassStanza(const ReportInput& input, const Stanza& stanza, Table::Visit visit) {
  const FlatRow& self = input.flat().rows()[stanza.self];
  const auto callees = std::find_if(stanza.arcs.begin(), stanza.arcs.end(),
                                    [](const Arc& arc) { return !IsCaller(arc.kind); });
  const auto pass = [&](auto begin, auto end) {
    return std::all_of(begin, end, [&](const Arc& arc) { return visit(ArcRow(input, self, arc)); });
  };
  return pass(stanza.arcs.begin(), callees) && visit(SelfRow(input, self)) &&
         pass(callees, stanza.arcs.end());
}

// The stanzas that --filter and --top leave. In text the threads report shows the threads.
std::vector<Stanza> ChosenStanzas(const ReportInput& input, bool with_roots) {
  std::vector<uint32_t> chosen;
  for (const uint32_t row : input.flat().Sorted()) {
    const FlatRow& self = input.flat().rows()[row];
    if (self.is_root && !with_roots) continue;
    if (input.options.counted_only && self.calls == 0) continue;
    if (IsFiltered(input, self.measure.cum, input.measure().whole)) continue;
    chosen.push_back(row);
    if (input.options.top > 0 && chosen.size() == static_cast<uint64_t>(input.options.top)) break;
  }
  return input.arcs().Stanzas(chosen);
}

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
  table.pass_rows = [&input](Table::Visit visit) {
    for (const Stanza& stanza : ChosenStanzas(input, /*with_roots=*/true)) {
      if (!PassStanza(input, stanza, visit)) return;
    }
  };
  return table;
}

// For self and total; counts are not scaled. 0: calls are enough.
int AmountWidth(const Measure& measure) {
  if (!measure.is_more_than_calls()) return 0;
  return StyleOf(measure) == Style::kCount ? kCallsWidth : 11;
}

constexpr int kExtremeWidth = 10;

// Of the self time of a call; only a clock knows them.
bool ShowsExtremes(const ReportInput& input) {
  return input.measure().kind == Measure::Kind::kTime && !input.measure().is_chosen;
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

constexpr size_t kMaxArcsShown = 6;  // callers, and callees, of a stanza in text

class ArcFlowWriter {
 public:
  ArcFlowWriter(const ReportInput& input, std::ostream& out)
      : input_(input), out_(out), amount_width_(AmountWidth(input.measure())) {}

  void WriteHeader();
  void Write(const Stanza& stanza);

 private:
  void AddArcs(const Stanza& stanza, bool callers);
  // Up to the name.
  void AddAmounts(std::string_view mark, const Amounts& amounts);
  void AddArc(const Arc& arc);
  // The name in the rest of the line, and its end.
  void AddName(std::string_view name, bool is_kept);

  const ReportInput& input_;
  std::ostream& out_;
  const int amount_width_;
  const bool shows_extremes_ = ShowsExtremes(input_);
  ShortNames names_;
  std::string line_, stanza_;
};

void ArcFlowWriter::WriteHeader() {
  out_ << PadLeft("calls", kCallsWidth);
  if (amount_width_ > 0) out_ << PadLeft("self", amount_width_) << PadLeft("total", amount_width_);
  if (shows_extremes_) {
    out_ << PadLeft("min self", kExtremeWidth) << PadLeft("max self", kExtremeWidth);
  }
  out_ << "  ┌ caller ● routine └ callee ↻ recursive" << ByMeasure(input_) << '\n';
}

void ArcFlowWriter::AddAmounts(std::string_view mark, const Amounts& amounts) {
  const auto& [calls, self, total, least, most] = amounts;
  line_.clear();
  AppendLeft(line_, calls == 0 ? "" : FormatCount(calls), kCallsWidth);
  if (amount_width_ > 0) {
    AppendLeft(line_, self == 0 ? "" : FormatMeasure(input_, self), amount_width_);
    AppendLeft(line_, total == 0 ? "" : FormatMeasure(input_, total), amount_width_);
  }
  if (shows_extremes_) {
    AppendLeft(line_, ExtremeText(input_, least), kExtremeWidth);
    AppendLeft(line_, ExtremeText(input_, most), kExtremeWidth);
  }
  StrAppend(&line_, "  ", mark);
}

void ArcFlowWriter::AddName(std::string_view name, bool is_kept) {
  const int width = input_.options.width;
  const int room = width > 0 ? std::max(width - DisplayWidth(line_), kLeastNameWidth) : 0;
  if (is_kept) {
    StrAppend(&stanza_, line_, names_.Shorten(name, room), "\n");
  } else {
    StrAppend(&stanza_, line_, ShortenName(name, room), "\n");
  }
}

// With the line that calls: that of the caller, or of the stanza's routine.
void ArcFlowWriter::AddArc(const Arc& arc) {
  const bool is_caller = IsCaller(arc.kind);
  const bool is_recursive =
      arc.kind == ArcKind::kRecursiveParent || arc.kind == ArcKind::kRecursiveChild;
  const bool rough = arc.has_rough_extremes;
  AddAmounts(
      is_recursive ? "  ↻ "
      : is_caller  ? "  ┌ "
                   : "  └ ",
      {arc.calls, arc.measure_base, arc.measure_cum, is_caller ? LeastCell(arc, rough) : Cell(),
       is_caller ? MostCell(arc, rough) : Cell()});
  const FlatRow& row = input_.flat().rows()[arc.other];
  if (row.is_root) return AddName(StrCat("thread ", row.name), false);
  if (arc.place == kNoCallSite) return AddName(row.name, true);
  AddName(is_caller ? StrCat(row.name, PlaceText(arc.place))
                    : StrCat(PlaceText(arc.place), " > ", row.name),
          false);
}

void ArcFlowWriter::AddArcs(const Stanza& stanza, bool callers) {
  size_t shown = 0;
  int64_t left = 0;
  for (const Arc& arc : stanza.arcs) {
    if (IsCaller(arc.kind) != callers) continue;
    if (input_.options.top > 0 && shown == kMaxArcsShown) {
      ++left;
      continue;
    }
    ++shown;
    AddArc(arc);
  }
  if (left == 0) return;
  const int extremes = shows_extremes_ ? 2 * kExtremeWidth : 0;
  const int indent = kCallsWidth + 2 * amount_width_ + extremes + 2;
  StrAppend(&stanza_, std::string(static_cast<size_t>(indent), ' '), "    … ",
            Counted(left, callers ? "more caller" : "more callee"), "\n");
}

void ArcFlowWriter::Write(const Stanza& stanza) {
  const FlatRow& self = input_.flat().rows()[stanza.self];
  const bool rough = self.has_bounds || self.has_rough_extremes;
  stanza_.clear();
  AddArcs(stanza, true);
  AddAmounts("● ", {self.calls, self.measure.base, self.measure.cum, LeastCell(self, rough),
                    MostCell(self, rough)});
  AddName(self.name, true);
  AddArcs(stanza, false);
  out_ << stanza_;
}

}  // namespace

void ArcFlowText(const ReportInput& input, std::ostream& out) {
  ArcFlowWriter writer(input, out);
  writer.WriteHeader();
  bool first = true;
  const std::vector<Stanza> stanzas = ChosenStanzas(input, /*with_roots=*/false);
  for (const Stanza& stanza : stanzas) {
    if (!first) out << '\n';
    first = false;
    writer.Write(stanza);
  }
  const InvariantCheck check = input.arcs().Check(stanzas);
  out << "\ninvariants: " << check.held() << " of 4 hold over " << Counted(check.stanzas, "stanza")
      << '\n';
}

extern const Report kArcFlowReport = {
    .name = "arcflow",
    .group = ReportGroup::kRoutines,
    .summary = "every routine with its callers and callees",
    .example = "jtrace-post --report=arcflow --top=5 trace.bin",
    .accepts = (kAcceptsOfTree & ~kAcceptsSort) | kAcceptsSites,
    .sorts_itself = true,
    .table = ArcFlowTable,
    .text = ArcFlowText,
};

}  // namespace jtrace::postproc
