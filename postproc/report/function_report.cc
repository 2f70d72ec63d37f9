// All about the routines that --of names: callers, itself, callees, with their shares (S4.3, S4.8).
#include <algorithm>
#include <vector>

#include "postproc/report/report.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

bool IsCaller(ArcKind kind) {
  return kind == ArcKind::kParent || kind == ArcKind::kRecursiveParent;
}

// Arcs of the same partner, whether recursive or not, are one row.
struct Partner {
  const FlatRow* row = nullptr;
  int64_t calls = 0;
  int64_t cum = 0;
  int64_t cum_ticks = 0;
};

std::vector<Partner> PartnersOf(const ReportInput& input, const Stanza& stanza, bool callers) {
  std::vector<Partner> partners;
  for (const Arc& arc : stanza.arcs) {
    if (IsCaller(arc.kind) != callers) continue;
    const FlatRow* other = &input.flat.rows()[arc.other];
    auto found = std::find_if(partners.begin(), partners.end(),
                              [&](const Partner& it) { return it.row == other; });
    if (found == partners.end()) found = partners.insert(partners.end(), {.row = other});
    found->calls = WrapAdd(found->calls, arc.calls);
    found->cum = WrapAdd(found->cum, arc.cum);
    found->cum_ticks = WrapAdd(found->cum_ticks, arc.cum_ticks);
  }
  return partners;
}

// Shares are of what the routine itself has: of its calls for callers, of its recursive total
// (cum2) for both.
std::vector<Cell> PartnerRow(const FlatRow& self, const Partner& partner, bool caller) {
  const auto share = [](int64_t part, int64_t whole) {
    return whole == 0 ? Cell::Empty() : Cell::Percent(PercentOf(part, whole));
  };
  return {Cell::Text(caller ? "caller" : "callee"),
          Cell::Int(partner.calls),
          caller ? share(partner.calls, self.calls) : Cell::Empty(),
          Cell::Empty(),
          Cell::Int(partner.cum),
          share(partner.cum, self.cum2),
          Cell::Empty(),
          Cell::Int(partner.cum_ticks),
          share(partner.cum_ticks, self.cum2_ticks),
          Cell::Empty(),
          Cell::Empty(),
          Cell::Text(partner.row->name)};
}

std::vector<Cell> SelfRow(const FlatRow& self) {
  const Cell least = self.has_extremes ? Cell::Int(self.min_base) : Cell::Empty();
  const Cell most = self.has_extremes ? Cell::Int(self.max_base) : Cell::Empty();
  return {Cell::Text("self"),
          Cell::Int(self.calls),
          Cell::Empty(),
          Cell::Int(self.base),
          Cell::Int(self.cum2),
          Cell::Empty(),
          Cell::Int(self.base_ticks),
          Cell::Int(self.cum2_ticks),
          Cell::Empty(),
          least,
          most,
          Cell::Text(self.name)};
}

}  // namespace

Table FunctionTable(const ReportInput& input) {
  Table table;
  table.columns = {{"row"},
                   {"calls", Style::kCount, true},
                   {"calls_pct", Style::kPlain, true},
                   {"base", Style::kTime, true},
                   {"cum2", Style::kTime, true},
                   {"cum2_pct", Style::kPlain, true},
                   {"base_ticks", Style::kTicks, true},
                   {"cum2_ticks", Style::kTicks, true},
                   {"cum2_ticks_pct", Style::kPlain, true},
                   {"min_base", Style::kTime, true},
                   {"max_base", Style::kTime, true},
                   {"name"}};
  for (const Stanza& stanza : input.arcs.stanzas()) {
    const FlatRow& self = input.flat.rows()[stanza.self];
    if (self.is_root || !RoutineMatches(input.options.of, self.name)) continue;
    for (const Partner& caller : PartnersOf(input, stanza, true)) {
      table.rows.push_back(PartnerRow(self, caller, true));
    }
    table.rows.push_back(SelfRow(self));
    for (const Partner& callee : PartnersOf(input, stanza, false)) {
      table.rows.push_back(PartnerRow(self, callee, false));
    }
  }
  return table;
}

}  // namespace jtrace::postproc
