#include "postproc/report/source_notes.h"

#include <algorithm>
#include <utility>

#include "absl/container/btree_map.h"
#include "postproc/lines/path_costs.h"
#include "postproc/report/line_cells.h"
#include "postproc/support/strings.h"
#include "postproc/support/wrap.h"

namespace jtrace::postproc {
namespace {

constexpr size_t kMostCallers = 3;
constexpr size_t kMostCallees = 3;

struct Callee {
  int64_t calls = 0;
  int64_t measure = 0;  // with its own callees
};

}  // namespace

SourceNotes::SourceNotes(const ReportInput& input)
    : input_(input), stanzas_(input.arcs().Stanzas(input.flat().Sorted())) {
  for (const Stanza& stanza : stanzas_) {
    const FlatRow& row = input.flat().rows()[stanza.self];
    if (row.routine) of_routine_.emplace(row.routine, &stanza);
  }
}

std::string SourceNotes::CallersOf(RoutineId routine) const {
  const auto found = of_routine_.find(routine);
  if (found == of_routine_.end()) return "";
  absl::btree_map<std::string_view, int64_t> calls;
  for (const Arc& arc : found->second->arcs) {
    const FlatRow& caller = input_.flat().rows()[arc.other];
    const bool is_caller = arc.kind == ArcKind::kParent || arc.kind == ArcKind::kRecursiveParent;
    if (!is_caller || caller.is_root || arc.calls == 0) continue;
    calls[caller.name] += arc.calls;
  }
  std::vector<std::pair<std::string_view, int64_t>> callers(calls.begin(), calls.end());
  std::stable_sort(callers.begin(), callers.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text;
  for (size_t i = 0; i < callers.size() && i < kMostCallers; ++i) {
    StrAppend(&text, i == 0 ? "; called by " : ", ", callers[i].first, " ",
              FormatCount(callers[i].second));
  }
  if (callers.size() > kMostCallers) {
    StrAppend(&text, ", … ", callers.size() - kMostCallers, " more");
  }
  return text;
}

std::string SourceNotes::CalleesOf(const MethodLines& method) const {
  const auto found = of_routine_.find(method.routine);
  if (!method.routine || found == of_routine_.end()) return "";
  absl::btree_map<std::string_view, Callee> by_name;
  for (const Arc& arc : found->second->arcs) {
    const bool is_callee = arc.kind == ArcKind::kChild || arc.kind == ArcKind::kRecursiveChild;
    const bool shows = arc.calls != 0 || (ShowsMeasure() && arc.measure_cum != 0);
    if (!is_callee || !shows) continue;
    Callee& callee = by_name[input_.flat().rows()[arc.other].name];
    callee.calls = WrapAdd(callee.calls, arc.calls);
    callee.measure = WrapAdd(callee.measure, arc.measure_cum);
  }
  std::vector<std::pair<std::string_view, Callee>> callees(by_name.begin(), by_name.end());
  std::stable_sort(callees.begin(), callees.end(), [](const auto& a, const auto& b) {
    return std::pair(a.second.measure, a.second.calls) >
           std::pair(b.second.measure, b.second.calls);
  });
  std::string text;
  for (size_t i = 0; i < callees.size() && i < kMostCallees; ++i) {
    const auto& [name, callee] = callees[i];
    StrAppend(&text, i == 0 ? "calls " : ", ", name);
    if (callee.calls != 0) StrAppend(&text, " ", FormatCount(callee.calls));
    if (ShowsMeasure() && callee.measure != 0) {
      StrAppend(&text, " (", FormatMeasure(input_, callee.measure), ")");
    }
  }
  if (callees.size() > kMostCallees) {
    StrAppend(&text, ", … ", callees.size() - kMostCallees, " more");
  }
  return text;
}

// Not where the lines' own numbers are chosen, of which methods have sums anyway.
bool SourceNotes::ShowsMeasure() const {
  return input_.measure().kind != Measure::Kind::kCalls && !IsCostMetric(input_.options.metric);
}

std::string SourceNotes::SelfOf(RoutineId routine) const {
  const auto found = of_routine_.find(routine);
  if (!ShowsMeasure() || !routine || found == of_routine_.end()) return "";
  const FlatRow& row = input_.flat().rows()[found->second->self];
  return StrCat(", self ", FormatMeasure(input_, row.measure.base), ", total ",
                FormatMeasure(input_, row.measure.cum));
}

std::string SourceNotes::OfMethod(const MethodLines& method) const {
  const std::string name = FullName(method);
  if (method.is_part) {
    return StrCat(name, method.name == kInlinedPart ? ": code in other methods" : ": more of it");
  }
  if (method.never_loaded) {
    return StrCat(name, ": class never loaded", method.was_inlined ? "; inlined elsewhere" : "");
  }
  if (method.calls == 0 && method.instructions == 0) {
    return StrCat(name, ": never called", method.was_inlined ? "; inlined elsewhere" : "");
  }
  return StrCat(name, ": ", FormatCount(ToInteger(method.calls)),
                method.calls == 1 ? " call, " : " calls, ",
                FormatCount(ToInteger(method.instructions)), " instructions, ",
                FormatCount(ToInteger(method.cycles)), " cycles", SelfOf(method.routine),
                CallersOf(method.routine));
}

std::string SourceNotes::OfBlocks(const LineCounts& line) {
  std::string text = "blocks:";
  for (size_t i = 0; i < line.blocks.size(); ++i) {
    StrAppend(&text, i == 0 ? " " : ", ", FormatCount(ToInteger(line.blocks[i])));
  }
  return text;
}

}  // namespace jtrace::postproc
