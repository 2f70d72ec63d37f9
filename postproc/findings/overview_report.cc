// The default output: the answer first, then the hottest part of the other reports, then what the
// recording says about itself.
#include <algorithm>

#include "postproc/findings/reports.h"
#include "postproc/report/report.h"
#include "postproc/report/tree_text.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

constexpr double kOverviewFilter = 1.0;  // percent
constexpr size_t kOverviewTreeLines = 50;
constexpr int64_t kOverviewFlatRows = 20;
constexpr int64_t kOverviewStanzas = 5;

void Heading(std::string_view title, std::ostream& out) { out << "\n── " << title << " ──\n"; }

// Whether events counted anything except the threads themselves.
bool HasCalls(const ReportInput& input) {
  const auto& rows = input.flat().rows();
  return std::any_of(rows.begin(), rows.end(),
                     [](const FlatRow& row) { return !row.is_root && row.calls > 0; });
}

// Work that many threads do alike has no hot path in any one of them.
void HintAtAggregation(const ReportInput& input, std::ostream& out) {
  constexpr double kMuch = 5;  // percent
  const std::vector<NodeId>& roots = input.tree.roots();
  const bool has_great_one = std::any_of(roots.begin(), roots.end(), [&](NodeId root) {
    return PercentOf(input.measure().Cum(root), input.measure().whole) >= kMuch;
  });
  if (roots.size() < 2 || has_great_one || input.measure().whole == 0) return;
  out << "none of the " << FormatCount(static_cast<int64_t>(roots.size())) << " threads has "
      << kMuch << " % of the whole: --aggregate=process merges them into one tree\n";
}

// The flat report's column of the measure without callees; empty for calls, which is its order.
std::string SelfColumn(const Measure& measure) {
  if (measure.is_chosen) return StrCat(measure.name, ".base");
  if (measure.kind == Measure::Kind::kTicks) return "base_ticks";
  return measure.kind == Measure::Kind::kTime ? "base" : "";
}

}  // namespace

void OverviewText(const ReportInput& input, std::ostream& out) {
  SummaryHeadText(input, out);
  out << '\n';
  HeadlineText(input, out);
  const auto with = [&](int64_t top, double filter) {
    ReportOptions options = input.options;
    if (options.top == 0) options.top = top;
    if (options.filter_percent == 0) options.filter_percent = filter;
    return options;
  };
  const auto rebound = [&](const ReportOptions& options) {
    return ReportInput{static_cast<const Recorded&>(input), input.lines, options};
  };
  Heading("call tree, hottest paths", out);
  TreeTextOptions tree;
  tree.filter_percent = with(0, kOverviewFilter).filter_percent;
  tree.program_first = true;
  tree.folds_chains = input.options.folds_chains;
  tree.heaviest = input.options.top;
  tree.max_lines = kOverviewTreeLines;
  WriteTreeText(input, tree, out);
  HintAtAggregation(input, out);
  ReportOptions flat = with(kOverviewFlatRows, 0);
  if (flat.sort.empty()) flat.sort = SelfColumn(input.measure());
  Heading(flat.sort == input.options.sort ? "routines" : "routines by self", out);
  FlatText(rebound(flat), out);
  Heading("arc flow of the top routines", out);
  ReportOptions arcs = with(kOverviewStanzas, 0);
  arcs.counted_only = HasCalls(input);
  ArcFlowText(rebound(arcs), out);
  Heading("the recording", out);
  SummaryDetailsText(input, out);
}

}  // namespace jtrace::postproc
