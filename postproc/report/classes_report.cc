// Classes: what was loaded, counted and sampled, and which of their methods never ran (S4.6).
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "postproc/report/report.h"
#include "postproc/report/scope_coverage.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

struct ClassRow {
  int64_t calls = 0;
  int64_t base = 0;
  int64_t base_ticks = 0;
  int64_t samples = 0;
  int64_t measure = 0;   // base
  int64_t counted = 0;   // methods of the instrumented scope
  int64_t executed = 0;  // of these
  ClassLog::Entry loading;
};

using ClassRows = absl::btree_map<std::string, ClassRow>;

bool IsCode(const ReportInput& input, RoutineId routine) {
  return !IsEvent(input.model.TraitsOf(routine).kind);
}

ClassRows CollectClasses(const ReportInput& input) {
  ClassRows rows;
  for (const auto& [name, entry] : input.classes.classes()) rows[name].loading = entry;
  const ScopeCoverage coverage(input);
  for (const FlatRow& flat : input.flat().rows()) {
    // Native functions have no class that the JVM loads. Exceptions are named by theirs, which is
    // not the class that runs.
    const bool is_code = coverage.IsJava(flat.routine) && IsCode(input, flat.routine);
    if (flat.is_root || !is_code) continue;
    ClassRow& row = rows[std::string(ClassOf(flat.name))];
    row.calls = WrapAdd(row.calls, flat.calls);
    row.base = WrapAdd(row.base, flat.base);
    row.base_ticks = WrapAdd(row.base_ticks, flat.base_ticks);
    row.samples = WrapAdd(row.samples, flat.samples);
    row.measure = WrapAdd(row.measure, flat.measure.base);
  }
  for (const ScopeCoverage::Method& method : coverage.methods()) {
    ClassRow& row = rows[std::string(ClassOf(method.name))];
    ++row.counted;
    row.executed += method.executed ? 1 : 0;
  }
  return rows;
}

Table ClassesTable(const ReportInput& input) {
  const ClassRows by_name = CollectClasses(input);
  std::vector<std::pair<std::string_view, const ClassRow*>> rows;
  for (const auto& [name, row] : by_name) rows.emplace_back(name, &row);
  std::stable_sort(rows.begin(), rows.end(), [&](const auto& a, const auto& b) {
    if (input.measure().is_chosen && a.second->measure != b.second->measure) {
      return a.second->measure > b.second->measure;
    }
    if (a.second->base != b.second->base) return a.second->base > b.second->base;
    if (a.second->base_ticks != b.second->base_ticks) {
      return a.second->base_ticks > b.second->base_ticks;
    }
    return a.second->calls > b.second->calls;
  });
  Table table;
  table.columns = {{"calls", Style::kCount, true},
                   {"base", Style::kTime, true},
                   {"base_ticks", Style::kTicks, true},
                   Column{"samples", Style::kCount, true}.Ranked(2),
                   {"methods", Style::kCount, true},
                   Column{"counted", Style::kCount, true}.Ranked(3),
                   Column{"executed", Style::kCount, true}.Ranked(3),
                   Column{"loads", Style::kCount, true}.Ranked(4),
                   Column{"unloads", Style::kCount, true}.Ranked(5),
                   Column{"first_load", Style::kTime, true}.Ranked(4),
                   Column{"source"}.Ranked(6),
                   {"name"}};
  if (input.measure().is_chosen) {
    table.columns.push_back({StrCat(input.measure().name, ".base"), StyleOf(input.measure())});
  }
  for (const auto& [name, row] : rows) {
    const ClassLog::Entry& loading = row->loading;
    table.rows.push_back({Cell::Int(row->calls), Cell::Int(row->base), Cell::Int(row->base_ticks),
                          Cell::Int(row->samples),
                          loading.loads > 0 ? Cell::Int(loading.methods) : Cell::Empty(),
                          Cell::Int(row->counted), Cell::Int(row->executed),
                          Cell::Int(loading.loads), Cell::Int(loading.unloads),
                          loading.loads > 0 ? Cell::Int(loading.first_load) : Cell::Empty(),
                          Cell::Text(loading.source), Cell::Text(name)});
    AddMeasureCells(input, {row->measure}, table.rows.back());
  }
  return table;
}

void ClassesText(const ReportInput& input, std::ostream& out) {
  Table table = ClassesTable(input);
  SortAsWanted(input, table);
  LimitRows(table, input.options.top);
  table.MoveLast("name");
  WriteText(table, input.layout(), out);
}

}  // namespace

extern const Report kClassesReport = {
    .name = "classes",
    .group = ReportGroup::kRoutines,
    .summary = "a row for each class: calls, time, methods, loads",
    .example = "jtrace-post --report=classes --top=20 trace.bin",
    .accepts = kAcceptsOfTree | kAcceptsMethodCosts | kAcceptsClasses,
    .if_empty = kNothingRecorded,
    .table = ClassesTable,
    .text = ClassesText,
};

// Methods of the instrumented scope that never ran (S4.6).
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
