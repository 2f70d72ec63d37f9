#include "postproc/page/page_findings.h"

#include <vector>

#include "postproc/findings/findings_text.h"
#include "postproc/findings/rules.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {

void WritePageFindings(const ReportInput& input, JsonWriter& json) {
  const std::vector<Found> found =
      input.options.root.empty() ? FindAll(input).found : std::vector<Found>();
  json.List("findings", found, [&](const Found& it) {
    json.BeginObject();
    json.Text("rule", it.rule->name);
    json.Text("share", FormatPercent(it.finding.share));
    json.Text("of", ShareOfName(it.finding.of));
    json.Text("finding", it.finding.sentence);
    json.Text("evidence", it.finding.evidence);
    json.Text("suggestion", it.finding.suggestion);
    json.Text("next", NextCommand(input, it.finding));
    json.EndObject();
  });
}

}  // namespace jtrace::postproc
