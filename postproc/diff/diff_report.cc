#include "postproc/diff/diff_report.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <vector>

#include "absl/strings/str_format.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

void AddChange(const Change& change, std::vector<Cell>& cells) {
  cells.push_back(Cell::Int(change.before));
  cells.push_back(Cell::Int(change.after));
  cells.push_back(Cell::Int(change.delta()));
}

void AddColumns(std::string_view name, Style style, std::vector<Column>& columns) {
  for (const std::string_view side : {"_before", "_after", "_delta"}) {
    columns.push_back({StrCat(name, side), style, true});
  }
}

std::array<int64_t, 4> CountStates(const ProfileDiff& diff) {
  std::array<int64_t, 4> counts{};
  for (const DiffRow& row : diff.rows) ++counts[static_cast<size_t>(row.state)];
  return counts;
}

void WriteHead(const ProfileDiff& diff, const ReportInput& after, std::ostream& out) {
  for (const TotalLine& line : TotalLines(diff, after)) {
    out << absl::StrFormat("%-12s %16s → %-16s %s\n", line.what, line.before, line.after,
                           line.growth);
  }
  out << "routines     " << DescribeStates(diff) << "\n\n";
}

Table ChangesTable(const ProfileDiff& diff, const ReportInput& after) {
  Table table;
  table.columns = {{"state"},
                   {"calls before", Style::kCount, true},
                   {"calls after", Style::kCount, true},
                   {"calls", Style::kPlain, true},
                   {"time before", Style::kTime, true},
                   {"time after", Style::kTime, true},
                   {"time", Style::kPlain, true},
                   {"ticks before", Style::kTicks, true},
                   {"ticks after", Style::kTicks, true},
                   {"ticks", Style::kPlain, true},
                   {"routine"}};
  const bool has_metric = !after.options.metric.empty();
  if (has_metric)
    table.columns.insert(table.columns.end() - 1,
                         {StrCat(after.options.metric), Style::kPlain, true});
  for (const DiffRow& row : diff.rows) {
    if (row.state == DiffState::kSame) continue;
    const bool called = row.calls.before != 0 || row.calls.after != 0;
    const bool timed = row.base.before != 0 || row.base.after != 0;
    const bool sampled = row.base_ticks.before != 0 || row.base_ticks.after != 0;
    std::vector<Cell> cells = {Cell::Text(DiffStateName(row.state))};
    cells.push_back(called ? Cell::Int(row.calls.before) : Cell::Empty());
    cells.push_back(called ? Cell::Int(row.calls.after) : Cell::Empty());
    cells.push_back(called ? Cell::Text(Growth(row.calls)) : Cell::Empty());
    cells.push_back(timed ? Cell::Int(row.base.before) : Cell::Empty());
    cells.push_back(timed ? Cell::Int(row.base.after) : Cell::Empty());
    cells.push_back(timed ? Cell::Text(Growth(row.base)) : Cell::Empty());
    cells.push_back(sampled ? Cell::Int(row.base_ticks.before) : Cell::Empty());
    cells.push_back(sampled ? Cell::Int(row.base_ticks.after) : Cell::Empty());
    cells.push_back(
        !sampled ? Cell::Empty()
                 : Cell::Text(StrCat(Growth(row.base_ticks), row.is_significant() ? " *" : "")));
    if (has_metric) cells.push_back(Cell::Text(Growth(row.metric)));
    cells.push_back(Cell::Text(row.name));
    table.rows.push_back(std::move(cells));
  }
  return table;
}

}  // namespace

std::string Growth(const Change& change) {
  const double percent = change.percent();
  if (!std::isfinite(percent)) return "new";
  if (change.delta() == 0) return "=";
  return absl::StrFormat("%+.1f %%", percent);
}

std::vector<TotalLine> TotalLines(const ProfileDiff& diff, const ReportInput& after) {
  const Units units = after.units();
  const DiffRow& total = diff.total;
  std::vector<TotalLine> lines;
  const auto add = [&](std::string_view what, const Change& change, auto format) {
    if (change.before == 0 && change.after == 0) return;
    lines.push_back(
        {std::string(what), format(change.before), format(change.after), Growth(change)});
  };
  add("calls", total.calls, FormatCount);
  add("time", total.base, [&](int64_t value) { return units.Time(value); });
  add("ticks", total.base_ticks, [&](int64_t value) { return units.Ticks(value); });
  add(after.options.metric, total.metric,
      [&](int64_t value) { return FormatMeasure(after, value); });
  add("bytecodes", diff.bytecodes, FormatCount);
  add("cycles", diff.cycles, FormatCount);
  return lines;
}

std::string DescribeStates(const ProfileDiff& diff) {
  const auto counts = CountStates(diff);
  const auto count = [&](DiffState state) {
    return FormatCount(counts[static_cast<size_t>(state)]);
  };
  return StrCat(count(DiffState::kAppeared), " appeared, ", count(DiffState::kVanished),
                " vanished, ", count(DiffState::kChanged), " changed, ", count(DiffState::kSame),
                " the same");
}

Table DiffTable(const ProfileDiff& diff, const ReportOptions& options) {
  Table table;
  table.columns = {{"state"}};
  AddColumns("calls", Style::kCount, table.columns);
  AddColumns("base", Style::kTime, table.columns);
  AddColumns("base_ticks", Style::kTicks, table.columns);
  table.columns.push_back({"deviations"});
  table.columns.push_back({"significant"});
  table.columns.push_back({"name"});
  if (!options.metric.empty()) AddColumns(options.metric, Style::kCount, table.columns);
  for (const DiffRow& row : diff.rows) {
    std::vector<Cell> cells = {Cell::Text(DiffStateName(row.state))};
    AddChange(row.calls, cells);
    AddChange(row.base, cells);
    AddChange(row.base_ticks, cells);
    cells.push_back(Cell::Percent(row.deviations));
    cells.push_back(Cell::Int(row.is_significant() ? 1 : 0));
    cells.push_back(Cell::Text(row.name));
    if (!options.metric.empty()) AddChange(row.metric, cells);
    table.rows.push_back(std::move(cells));
  }
  return table;
}

void DiffText(const ProfileDiff& diff, const ReportInput& after, std::ostream& out) {
  WriteHead(diff, after, out);
  Table table = ChangesTable(diff, after);
  if (table.rows.empty()) {
    out << "no routine changed: the same calls, no difference of ticks beyond chance"
        << (diff.total.base.after != 0 ? ", none of time above 1 % of all" : "") << '\n';
    return;
  }
  const size_t all = table.rows.size();
  LimitRows(table, after.options.top);
  WriteText(table, after.layout(), out);
  if (table.rows.size() < all) out << "… " << all - table.rows.size() << " more\n";
  const bool sampled = std::any_of(diff.rows.begin(), diff.rows.end(),
                                   [](const DiffRow& row) { return row.is_significant(); });
  if (sampled) out << "\n* more than chance: 3 standard deviations or more\n";
}

extern const Report kDiffReport = {
    .name = "diff",
    .group = ReportGroup::kComparisons,
    .summary = "two traces: exact differences of calls, differences of ticks beyond chance",
    .example = "jtrace-post --report=diff --fail-on='calls>0' before.bin after.bin",
    .accepts = kAcceptsOfTree | kAcceptsMethodCosts,
};

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
