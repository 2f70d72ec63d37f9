// Methods of the instrumented scope that never ran (S4.6).
#include <algorithm>
#include <string>
#include <vector>

#include "postproc/report/report.h"
#include "postproc/report/scope_coverage.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

// Methods that had probes and that the trace does not name: those of unloaded classes, or all that
// never ran if the trace has no end.
int64_t UnknownMethods(const ReportInput& input) {
  int64_t probed = 0;
  for (const TraceInfo& trace : input.model.traces()) {
    int64_t of_trace = 0;
    ParseInteger(trace.Fact("methods_probed"), of_trace);
    probed += of_trace;
  }
  return std::max<int64_t>(0, probed - static_cast<int64_t>(input.model.scope().size()));
}

bool IsCutOff(const ReportInput& input) {
  const auto& traces = input.model.traces();
  return std::any_of(traces.begin(), traces.end(),
                     [](const TraceInfo& trace) { return trace.cut_off || trace.running; });
}

std::string MethodOf(std::string_view routine) {
  const std::string_view owner = ClassOf(routine);
  return std::string(owner.empty() ? routine : routine.substr(owner.size() + 1));
}

void WriteHead(const ReportInput& input, const ScopeCoverage& coverage, std::ostream& out) {
  const auto all = static_cast<int64_t>(coverage.methods().size());
  const int64_t never = all - coverage.executed();
  if (all == 0) {
    out << "no methods were counted: record with mode=merged or mode=events\n";
    return;
  }
  out << FormatCount(never) << " of " << Counted(all, "method") << " in scope never ran ("
      << FormatPercent(PercentOf(never, all)) << ")\n";
  if (coverage.never_loaded() > 0) {
    out << FormatCount(coverage.never_loaded()) << " of these in classes that were never loaded\n";
  }
  if (IsCutOff(input)) {
    out << "the trace has no end, where methods that never ran are listed: there are more\n";
  } else if (const int64_t unknown = UnknownMethods(input); unknown > 0) {
    out << Counted(unknown, "method") << (unknown == 1 ? " more was" : " more were")
        << " of classes that were unloaded: not known\n";
  }
}

Table NeverTable(const ReportInput& input) {
  Table table;
  table.columns = {{"class"}, {"name"}, {"loaded"}};
  const ScopeCoverage coverage(input);
  for (const ScopeCoverage::Method& method : coverage.methods()) {
    if (method.executed) continue;
    table.rows.push_back({Cell::Text(ClassOf(method.name)), Cell::Text(method.name),
                          Cell::Int(method.never_loaded ? 0 : 1)});
  }
  return table;
}

// By class, with the number of its methods that did not run.
void NeverText(const ReportInput& input, std::ostream& out) {
  const ScopeCoverage coverage(input);
  WriteHead(input, coverage, out);
  const std::vector<ScopeCoverage::Method>& methods = coverage.methods();
  int64_t shown = 0;
  for (size_t i = 0; i < methods.size();) {
    const std::string_view owner = ClassOf(methods[i].name);
    size_t end = i;
    int64_t never = 0;
    for (; end < methods.size() && ClassOf(methods[end].name) == owner; ++end) {
      never += methods[end].executed ? 0 : 1;
    }
    if (never > 0) {
      out << '\n'
          << Printable(owner) << "  " << never << " of " << end - i
          << (methods[i].never_loaded ? ", never loaded" : "") << '\n';
      for (; i < end; ++i) {
        if (methods[i].executed) continue;
        if (input.options.top > 0 && shown++ == input.options.top) return;
        out << "    " << FitName(MethodOf(methods[i].name), input.options.width, 4) << '\n';
      }
    }
    i = end;
  }
}

}  // namespace

extern const Report kNeverReport = {
    .name = "never",
    .group = ReportGroup::kEvents,
    .summary = "methods in scope that never ran",
    .example = "jtrace-post --report=never trace.bin",
    .accepts = kAcceptsOfRecords | kAcceptsRoot | kAcceptsClasses,
    .instead = {{kAcceptsMetric,
                 "methods that never ran have no metrics; --report=classes has them by class"}},
    .table = NeverTable,
    .text = NeverText,
};

}  // namespace jtrace::postproc
