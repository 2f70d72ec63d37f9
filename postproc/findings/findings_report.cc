// What the rules found, as a table and as text.
#include "postproc/findings/findings_text.h"
#include "postproc/findings/reports.h"
#include "postproc/findings/rules.h"
#include "postproc/report/shorten.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

// A row for each finding, then one for each rule whose data was not recorded, with `needs`.
Table FindingsTable(const ReportInput& input) {
  Table table;
  table.columns = {{"rule"},     {"share"},      {"of"},   {"finding"},
                   {"evidence"}, {"suggestion"}, {"next"}, {"needs"}};
  const Findings findings = FindAll(input);
  for (const auto& [rule, finding] : findings.found) {
    if (finding.share < input.options.filter_percent) continue;
    table.rows.push_back({Cell::Text(rule->name), Cell::Percent(finding.share),
                          Cell::Text(ShareOfName(finding.of)), Cell::Text(finding.sentence),
                          Cell::Text(finding.evidence), Cell::Text(finding.suggestion),
                          Cell::Text(NextCommand(input, finding)), Cell::Empty()});
  }
  for (const Rule* rule : findings.not_recorded) {
    table.rows.push_back({Cell::Text(rule->name), Cell::Empty(), Cell::Empty(), Cell::Empty(),
                          Cell::Empty(), Cell::Empty(), Cell::Empty(), Cell::Text(rule->needs)});
  }
  return table;
}

void FindingsText(const ReportInput& input, std::ostream& out) {
  Findings findings = FindAll(input);
  std::erase_if(findings.found, [&](const Found& found) {
    return found.finding.share < input.options.filter_percent;
  });
  if (findings.found.empty()) out << "no findings\n";
  const int64_t top = input.options.top;
  if (top > 0 && findings.found.size() > static_cast<uint64_t>(top)) {
    findings.found.resize(static_cast<size_t>(top));
  }
  for (const Found& found : findings.found) WriteFinding(input, found, out);
  if (findings.not_recorded.empty()) return;
  std::string missing;
  for (const Rule* rule : findings.not_recorded) {
    StrAppend(&missing, missing.empty() ? "" : ", ", rule->name, " (", rule->needs, ")");
  }
  out << "not recorded, so not looked for: " << missing << '\n';
}

}  // namespace

extern const Report kFindingsReport = {
    .name = "findings",
    .group = ReportGroup::kRecording,
    .summary = "what costs time and can be changed: each with its figures and where to look next",
    .example = "jtrace-post --report=findings trace.bin",
    .accepts = kAcceptsTop | kAcceptsFilter | kAcceptsThread | kAcceptsFold,
    .instead = {{kAcceptsMetric,
                 "its rules are about time, calls and waits; --report=flat has metrics by routine"},
                {kAcceptsSort, "the greatest share is first"}},
    .table = FindingsTable,
    .text = FindingsText,
};

}  // namespace jtrace::postproc
