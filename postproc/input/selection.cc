#include "postproc/input/selection.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "common/glob.h"
#include "common/nearest.h"
#include "postproc/calltree/measure.h"
#include "postproc/calltree/outside_calls.h"
#include "postproc/input/all_reports.h"
#include "postproc/lines/merged_lines.h"
#include "postproc/lines/path_costs.h"
#include "postproc/model/frame_name.h"
#include "postproc/reader/record_filter.h"
#include "postproc/support/error_kind.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

absl::Status NotThere(std::string_view option, std::string_view what, std::string_view value,
                      std::string_view nearest) {
  std::string message = StrCat(option, ": no ", what, " '", value, "' in the trace");
  if (!nearest.empty()) StrAppend(&message, "; nearest: ", nearest);
  return UsageError(absl::NotFoundError(message));
}

// The name's last parts: "getKey", "Page.getKey", "org.h2.mvstore.Page.getKey".
std::array<std::string_view, 3> Endings(std::string_view name) {
  const size_t method = name.rfind('.');
  if (method == std::string_view::npos) return {name, name, name};
  const size_t owner = method == 0 ? std::string_view::npos : name.rfind('.', method - 1);
  return {name.substr(method + 1), owner == std::string_view::npos ? name : name.substr(owner + 1),
          name};
}

// The names of the tree's routines, in alphabetical order.
std::vector<std::string_view> RoutinesOf(const TraceModel& model, const CallTree& tree,
                                         bool without_outside) {
  std::vector<bool> seen(model.routine_count() + 1);
  std::vector<std::string_view> names;
  for (uint32_t i = 1; i <= tree.size(); ++i) {
    const RoutineId routine = tree.node(NodeId(i)).routine;
    if (!routine || seen[routine.value]) continue;
    if (without_outside && IsOutsideCall(model, tree.node(NodeId(i)))) continue;
    seen[routine.value] = true;
    names.push_back(model.RoutineName(routine));
  }
  std::sort(names.begin(), names.end());
  return names;
}

// Users omit packages and classes: a routine is as near as the nearest ending of its name.
std::string_view NearestRoutine(std::string_view pattern,
                                const std::vector<std::string_view>& routines) {
  std::vector<std::string_view> endings;
  for (const std::string_view routine : routines) {
    for (const std::string_view ending : Endings(WithoutParameters(routine))) {
      endings.push_back(ending);
    }
  }
  const std::string_view nearest = Nearest(pattern, endings);
  // Each routine has three endings, the last of them its whole name.
  for (size_t i = 0; i < endings.size(); ++i) {
    if (endings[i].data() == nearest.data()) return endings[i / 3 * 3 + 2];
  }
  return {};
}

// Those whose names have `part` in them: a class, or the beginning of a method; empty: at most one.
std::string RoutinesWith(std::string_view part, const std::vector<std::string_view>& routines) {
  constexpr size_t kMostListed = 6;
  std::vector<std::string_view> found;
  for (const std::string_view routine : routines) {
    const std::string_view name = WithoutParameters(routine);
    // Overloads have one name.
    if (name.find(part) == std::string_view::npos || (!found.empty() && found.back() == name)) {
      continue;
    }
    found.push_back(name);
  }
  if (found.size() < 2) return "";
  const size_t more = found.size() - std::min(found.size(), kMostListed);
  found.resize(found.size() - more);
  return StrCat(Join(found, ", "), more == 0 ? "" : StrCat(", and ", more, " more"));
}

absl::Status CheckRoutine(std::string_view option, std::string_view pattern,
                          const std::vector<std::string_view>& routines) {
  const bool found = std::any_of(routines.begin(), routines.end(), [&](std::string_view routine) {
    return RoutineMatches(pattern, routine);
  });
  if (pattern.empty() || found) return absl::OkStatus();
  if (const std::string several = RoutinesWith(pattern, routines); !several.empty()) {
    return UsageError(absl::NotFoundError(StrCat(
        option, ": '", pattern, "' is only a part of the names of routines; name one: ", several)));
  }
  return NotThere(option, "routine", pattern, NearestRoutine(pattern, routines));
}

// `names`: those of the metrics, and the other values of --metric.
absl::Status CheckMetric(std::string_view metric, const std::vector<std::string>& names) {
  if (std::find(names.begin(), names.end(), metric) != names.end()) {
    return absl::OkStatus();
  }
  const std::vector<std::string_view> views(names.begin(), names.end());
  return NotThere("--metric", "metric", metric, Nearest(metric, views));
}

bool IsExport(const CommandLine& line) {
  return !line.reports.empty() && FindReport(line.reports.front())->document != nullptr;
}

// The measures that any node has, and metrics that are 0 in the selected part of the trace: 0 is an
// answer in a report, but there is nothing to write to a file.
std::vector<std::string> ChoosableMeasures(const CommandLine& line, const TraceModel& model,
                                           const CallTree& tree) {
  std::vector<std::string> names = MeasureNames(model, tree);
  if (IsExport(line)) return names;
  for (uint32_t i = 1; i <= model.metric_count(); ++i) {
    names.emplace_back(model.MetricName(MetricId(i)));
  }
  return names;
}

bool AnyNeeds(const CommandLine& line, uint32_t needs) {
  return std::any_of(line.reports.begin(), line.reports.end(),
                     [&](const std::string& name) { return FindReport(name)->Needs(needs); });
}

// Whether all requested reports are about counts of lines, so that --of names classes and methods
// of these.
bool IsAboutLines(const CommandLine& line) {
  return !line.reports.empty() &&
         std::all_of(line.reports.begin(), line.reports.end(),
                     [](const std::string& name) { return FindReport(name)->Needs(kNeedsLines); });
}

// The class or method that is nearest to `pattern`.
std::string NearestName(std::string_view pattern, const LineProfile& lines) {
  std::vector<std::string> names;
  for (const MethodLines& method : lines.methods) {
    if (names.empty() || names.back() != method.class_name) names.push_back(method.class_name);
    const std::string name = FullName(method);
    names.emplace_back(WithoutParameters(name));
  }
  const std::vector<std::string_view> views(names.begin(), names.end());
  return std::string(Nearest(pattern, views));
}

}  // namespace

absl::Status CheckThread(const CommandLine& line, const TraceModel& model) {
  if (line.thread.empty()) return absl::OkStatus();
  std::vector<std::string_view> names;
  for (uint32_t i = 1; i <= model.thread_count(); ++i) {
    names.emplace_back(model.thread(ThreadId(i)).name);
    if (GlobMatches(line.thread, names.back())) return absl::OkStatus();
  }
  return NotThere("--thread", "thread", line.thread, Nearest(line.thread, names));
}

absl::Status CheckLabels(const CommandLine& line, const TraceModel& model) {
  std::vector<std::string> known;
  for (uint32_t i = 1; i <= model.labels_count(); ++i) {
    for (const auto& [key, value] : model.labels(LabelsId(i)))
      known.push_back(StrCat(key, "=", value));
  }
  const std::vector<std::string_view> names(known.begin(), known.end());
  for (const auto& label : line.with_labels) {
    const std::string prefix = StrCat(label.first, "=");
    const std::string wanted = StrCat(prefix, label.second);
    const bool found = std::any_of(names.begin(), names.end(), [&](std::string_view name) {
      return ConsumePrefix(name, prefix) && GlobMatches(label.second, name);
    });
    if (!found) return NotThere("--with-label", "sample with", wanted, Nearest(wanted, names));
  }
  return absl::OkStatus();
}

absl::Status CheckSelection(const CommandLine& line, const TraceModel& model,
                            const CallTree& tree) {
  if (absl::Status status = CheckThread(line, model); !status.ok()) return status;
  if (absl::Status status = CheckLabels(line, model); !status.ok()) return status;
  const ReportOptions& report = line.report;
  const std::string_view of = IsAboutLines(line) ? std::string_view() : report.of;
  if (!report.root.empty() || !of.empty()) {
    const std::vector<std::string_view> routines =
        RoutinesOf(model, tree, report.outside_in_caller);
    if (absl::Status status = CheckRoutine("--root", report.root, routines); !status.ok()) {
      return status;
    }
    if (absl::Status status = CheckRoutine("--of", of, routines); !status.ok()) {
      return status;
    }
  }
  if (report.metric.empty()) return absl::OkStatus();
  return CheckMetric(report.metric, ChoosableMeasures(line, model, tree));
}

absl::Status CheckCosts(const CommandLine& line, BlocksCounted counted) {
  if (!IsCostMetric(line.report.metric) || counted == BlocksCounted::kByPath) {
    return absl::OkStatus();
  }
  if (IsAboutLines(line)) return absl::OkStatus();  // each line has its own
  const std::string option = StrCat("--metric=", line.report.metric);
  if (counted == BlocksCounted::kNot) {
    return UsageError(absl::FailedPreconditionError(StrCat(
        option, ": the trace has no counts of blocks; record with blocks=paths, or blocks=on")));
  }
  if (counted == BlocksCounted::kBoth) {
    return UsageError(absl::FailedPreconditionError(
        StrCat(option,
               ": one trace has counts by call path and another has not; record all of them "
               "with blocks=paths")));
  }
  std::string_view needs = line.reports.empty() ? std::string_view("tree") : std::string_view();
  for (const std::string& name : line.reports) {
    if (!FindReport(name)->Accepts(kAcceptsMethodCosts)) needs = name;
  }
  if (!line.thread.empty()) needs = "--thread";
  if (!line.with_labels.empty()) needs = "--with-label";
  if (!line.report.root.empty()) needs = "--root";
  if (needs.empty()) return absl::OkStatus();
  return UsageError(absl::FailedPreconditionError(
      StrCat(option, ": ", needs, " needs counts by call path; record with blocks=paths")));
}

absl::Status CheckLines(const CommandLine& line, const LineProfile& lines) {
  if (!AnyNeeds(line, kNeedsLines)) return absl::OkStatus();
  if (lines.empty()) return absl::FailedPreconditionError(StrCat(kNoLines));
  if (!SelectMethods(lines, line.report.of).empty()) return absl::OkStatus();
  return UsageError(absl::NotFoundError(
      StrCat("--of: no class or method '", line.report.of,
             "' has counts of lines; nearest: ", NearestName(line.report.of, lines))));
}

bool ShowsSites(const CommandLine& line) {
  // Without --report: the overview, which has a tree.
  const bool may_show =
      line.reports.empty() ||
      std::any_of(line.reports.begin(), line.reports.end(),
                  [](const std::string& name) { return FindReport(name)->Accepts(kAcceptsSites); });
  return line.sites.value_or(true) && may_show;
}

absl::Status CheckSites(const CommandLine& line, const CallTree& tree) {
  const bool needed = AnyNeeds(line, kNeedsPlaces) || line.sites == true;
  if (!needed || tree.has_places()) return absl::OkStatus();
  return absl::FailedPreconditionError("the trace has no call sites; record with sites=on");
}

}  // namespace jtrace::postproc
