#include "postproc/diff/markdown_report.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "postproc/diff/diff_report.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

// A comment that people read; the whole table is --report=diff.
constexpr int64_t kRoutines = 20;

// A number of a routine before and after, and what it is called.
struct Pair {
  std::string_view what;
  Change change;
  std::string (*format)(const ReportInput& after, int64_t value);
};

std::string AsCount(const ReportInput&, int64_t value) { return FormatCount(value); }
std::string AsTime(const ReportInput& after, int64_t value) { return after.units().Time(value); }
std::string AsTicks(const ReportInput& after, int64_t value) { return after.units().Ticks(value); }

// What changed, most exact first: differences of ticks only where they are more than chance.
std::vector<Pair> ChangesOf(const DiffRow& row, std::string_view metric) {
  std::vector<Pair> pairs = {{"calls", row.calls, AsCount}, {"time", row.base, AsTime}};
  if (row.is_significant()) pairs.push_back({"ticks", row.base_ticks, AsTicks});
  if (!metric.empty()) pairs.push_back({metric, row.metric, FormatMeasure});
  std::erase_if(pairs, [](const Pair& pair) { return pair.change.delta() == 0; });
  return pairs;
}

void WriteRoutine(const DiffRow& row, absl::Span<const Pair> pairs, const ReportInput& after,
                  std::ostream& out) {
  for (const Pair& pair : pairs) {
    out << "| " << DiffStateName(row.state) << " | " << MarkdownCode(row.name, Within::kTable)
        << " | " << pair.what << " | " << pair.format(after, pair.change.before) << " | "
        << pair.format(after, pair.change.after) << " | " << Growth(pair.change) << " |\n";
  }
}

void WriteRoutines(const ProfileDiff& diff, const ReportInput& after, std::ostream& out) {
  const int64_t most = after.options.top > 0 ? after.options.top : kRoutines;
  int64_t written = 0;
  int64_t left_out = 0;
  for (const DiffRow& row : diff.rows) {
    const std::vector<Pair> pairs = ChangesOf(row, after.options.metric);
    if (row.state == DiffState::kSame || pairs.empty()) continue;
    if (written == most) {
      ++left_out;
      continue;
    }
    if (written++ == 0) {
      out << "\n| | method | of | before | after | change |\n|---|---|---|--:|--:|--:|\n";
    }
    WriteRoutine(row, pairs, after, out);
  }
  if (left_out > 0) out << "\n… and " << FormatCount(left_out) << " more\n";
}

}  // namespace

// Control characters have no place in a comment; a run of graves ends code of fewer.
std::string MarkdownCode(std::string_view text, Within within) {
  std::string shown;
  size_t run = 0;
  size_t longest = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
    if (c == '|' && within == Within::kTable) shown.push_back('\\');
    shown.push_back(c == '\n' || c == '\r' || c == '\t' ? ' ' : c);
  }
  const std::string fence(longest + 1, '`');
  const std::string_view space = longest > 0 ? " " : "";
  return StrCat(fence, space, shown, space, fence);
}

void DiffMarkdown(const ProfileDiff& diff, const ReportInput& after,
                  absl::Span<const std::string> broken, std::ostream& out) {
  for (const std::string& rule : broken) out << "- ❌ " << MarkdownCode(rule, Within::kText) << '\n';
  if (!broken.empty()) out << '\n';
  out << "| total | before | after | change |\n|---|--:|--:|--:|\n";
  for (const TotalLine& line : TotalLines(diff, after)) {
    out << "| " << line.what << " | " << line.before << " | " << line.after << " | " << line.growth
        << " |\n";
  }
  out << "\nMethods: " << DescribeStates(diff) << ".\n";
  WriteRoutines(diff, after, out);
}

extern const Report kMarkdownReport = {
    .name = "markdown",
    .group = ReportGroup::kComparisons,
    .summary = "the same, shorter, as a comment for a pull request",
    .example = "jtrace-post --report=markdown -o comment.md before.bin after.bin",
    .accepts = kAcceptsOfTree | kAcceptsMethodCosts,
};

}  // namespace jtrace::postproc
