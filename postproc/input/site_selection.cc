#include "postproc/input/site_selection.h"

#include <algorithm>
#include <string>

#include "postproc/input/all_reports.h"

namespace jtrace::postproc {
namespace {

bool NeedsSites(const CommandLine& line) {
  return std::find(line.reports.begin(), line.reports.end(), "sites") != line.reports.end();
}

// Without --report: the overview, which has a tree.
bool MayShowSites(const CommandLine& line) {
  return line.reports.empty() ||
         std::any_of(line.reports.begin(), line.reports.end(), [](const std::string& name) {
           const Report* report = FindReport(name);
           return report != nullptr && report->shows_sites;
         });
}

}  // namespace

bool ShowsSites(const CommandLine& line) { return line.sites.value_or(true) && MayShowSites(line); }

absl::Status CheckSiteOptions(const CommandLine& line) {
  if (!line.sites.has_value()) return absl::OkStatus();
  if (!MayShowSites(line)) {
    return absl::InvalidArgumentError(
        "--sites needs a report that shows call sites, such as tree, arcflow, function or html");
  }
  if (!*line.sites && NeedsSites(line)) {
    return absl::InvalidArgumentError("--sites=off: leaves nothing of --report=sites; use flat");
  }
  return absl::OkStatus();
}

absl::Status CheckSites(const CommandLine& line, const CallTree& tree) {
  const bool needed = NeedsSites(line) || line.sites == true;
  if (!needed || tree.has_places()) return absl::OkStatus();
  return absl::FailedPreconditionError("the trace has no call sites; record with sites=on");
}

}  // namespace jtrace::postproc
