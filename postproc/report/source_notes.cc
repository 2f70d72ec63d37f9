#include "postproc/report/source_notes.h"

#include <algorithm>
#include <utility>

#include "absl/container/btree_map.h"
#include "postproc/report/line_cells.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

constexpr size_t kMostCallers = 3;

}  // namespace

SourceNotes::SourceNotes(const ReportInput& input) : input_(input) {
  for (const Stanza& stanza : input.arcs.stanzas()) {
    const FlatRow& row = input.flat.rows()[stanza.self];
    if (row.routine) stanzas_.emplace(row.routine, &stanza);
  }
}

std::string SourceNotes::CallersOf(RoutineId routine) const {
  const auto found = stanzas_.find(routine);
  if (found == stanzas_.end()) return "";
  absl::btree_map<std::string_view, int64_t> calls;
  for (const Arc& arc : found->second->arcs) {
    const FlatRow& caller = input_.flat.rows()[arc.other];
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

std::string SourceNotes::OfMethod(const MethodLines& method) const {
  if (method.calls == 0 && method.instructions == 0)
    return StrCat(FullName(method), ": never called");
  return StrCat(FullName(method), ": ", FormatCount(ToInteger(method.calls)),
                method.calls == 1 ? " call, " : " calls, ",
                FormatCount(ToInteger(method.instructions)), " instructions, ",
                FormatCount(ToInteger(method.cycles)), " cycles", CallersOf(method.routine));
}

std::string SourceNotes::OfBlocks(const LineCounts& line) {
  std::string text = "blocks:";
  for (size_t i = 0; i < line.blocks.size(); ++i) {
    StrAppend(&text, i == 0 ? " " : ", ", FormatCount(ToInteger(line.blocks[i])));
  }
  return text;
}

}  // namespace jtrace::postproc
