#include "postproc/report/line_cells.h"

#include <algorithm>
#include <limits>
#include <string_view>

#include "absl/container/flat_hash_set.h"
#include "postproc/report/units.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

std::string MethodCount(int64_t count) { return Counted(count, "method"); }

}  // namespace

int64_t ToInteger(uint64_t count) {
  constexpr auto kMost = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  return static_cast<int64_t>(std::min(count, kMost));
}

Cell CountCell(uint64_t count) { return Cell::Int(ToInteger(count)); }

Methods SelectedMethods(const ReportInput& input) {
  return SelectMethods(input.lines, input.options.of);
}

std::string CoveredText(const Covered& covered, std::string_view what) {
  if (covered.total == 0) return StrCat("no ", what);
  return StrCat(FormatCount(covered.covered), " of ", CountedText(covered.total, what),
                what == "lines" ? " ran (" : " taken (", FormatPercent(covered.percent()), ")");
}

std::string BranchesText(const LineCounts& line) {
  return line.branches == 0 ? "" : StrCat(line.branches_taken, "/", line.branches);
}

std::string NeverLoadedText(const Methods& methods) {
  absl::flat_hash_set<std::string_view> classes;
  int64_t never_loaded = 0;
  for (const MethodLines* method : methods) {
    if (!method->never_loaded || method->is_part) continue;
    classes.insert(method->class_name);
    ++never_loaded;
  }
  if (never_loaded == 0) return "";
  const auto count = static_cast<int64_t>(classes.size());
  return StrCat(FormatCount(never_loaded), " of the methods ", never_loaded == 1 ? "is" : "are",
                " of ", Counted(count, "class", "classes"), " that ", count == 1 ? "was" : "were",
                " never loaded\n");
}

std::string MissingText(const ReportInput& input, const Methods& methods) {
  std::string text;
  const auto without = std::count_if(methods.begin(), methods.end(), [](const MethodLines* method) {
    return method->lines.empty() && !method->is_part;
  });
  if (without > 0) {
    StrAppend(&text, MethodCount(without), " without line numbers: not in these lines\n");
  }
  if (const auto not_counted = ToInteger(input.lines.methods_not_counted); not_counted > 0) {
    StrAppend(&text, MethodCount(not_counted),
              " in scope without counts of lines: not in these lines\n");
  }
  return text;
}

}  // namespace jtrace::postproc
