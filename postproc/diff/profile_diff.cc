#include "postproc/diff/profile_diff.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <tuple>
#include <utility>

#include "absl/container/btree_map.h"
#include "absl/types/span.h"
#include "postproc/lines/merged_lines.h"
#include "postproc/report/line_cells.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

double Deviations(const Change& ticks, double variance_before, double variance_after) {
  const double variance = static_cast<double>(ticks.before) * variance_before +
                          static_cast<double>(ticks.after) * variance_after;
  return variance > 0 ? static_cast<double>(ticks.delta()) / std::sqrt(variance) : 0;
}

using Rows = absl::btree_map<std::string, DiffRow>;

void AddSide(const ReportInput& input, int64_t Change::*side, Rows& rows) {
  for (const FlatRow& flat : input.flat().rows()) {
    if (flat.is_root) continue;
    DiffRow& row = rows[std::string(flat.name)];
    row.calls.*side = WrapAdd(row.calls.*side, flat.calls);
    row.base.*side = WrapAdd(row.base.*side, flat.base);
    row.base_ticks.*side = WrapAdd(row.base_ticks.*side, flat.base_ticks);
    row.cum_ticks.*side = WrapAdd(row.cum_ticks.*side, flat.cum_ticks);
    if (!input.measure().is_chosen) continue;
    row.metric.*side = WrapAdd(row.metric.*side, flat.measure.base);
  }
}

// Ticks and times differ from run to run: a difference by chance is not a change, and a routine
// that only a few samples saw in one of two runs has neither appeared nor vanished.
DiffState StateOf(const DiffRow& row, int64_t whole_time) {
  const auto is_counted = [&](int64_t Change::*side) {
    return row.calls.*side != 0 || row.base.*side != 0 || row.metric.*side != 0;
  };
  const auto is_there = [&](int64_t Change::*side) {
    return is_counted(side) || row.cum_ticks.*side != 0;
  };
  const bool counted = is_counted(&Change::before) || is_counted(&Change::after);
  if (!counted && !row.is_significant()) return DiffState::kSame;
  const bool before = is_there(&Change::before);
  const bool after = is_there(&Change::after);
  if (before != after) return after ? DiffState::kAppeared : DiffState::kVanished;
  const bool much_time = std::abs(PercentOf(row.base.delta(), whole_time)) >= kMuchTime;
  return row.calls.delta() != 0 || row.metric.delta() != 0 || row.is_significant() || much_time
             ? DiffState::kChanged
             : DiffState::kSame;
}

Change CostChange(const ReportInput& before, const ReportInput& after, LineCost cost) {
  return {ToInteger(TotalCost(before.lines, cost)), ToInteger(TotalCost(after.lines, cost))};
}

void AddToTotal(const DiffRow& row, DiffRow& total) {
  for (const auto member :
       {&DiffRow::calls, &DiffRow::base, &DiffRow::base_ticks, &DiffRow::metric}) {
    (total.*member).before = WrapAdd((total.*member).before, (row.*member).before);
    (total.*member).after = WrapAdd((total.*member).after, (row.*member).after);
  }
}

uint64_t Magnitude(int64_t value) {
  return value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
}

// The first sort key, greatest first.
std::tuple<uint64_t, uint64_t, uint64_t> Weight(const DiffRow& row) {
  return {row.is_significant() ? Magnitude(row.base_ticks.delta()) : 0,
          Magnitude(row.metric.delta()), Magnitude(row.calls.delta())};
}

}  // namespace

double Change::percent() const {
  if (before == 0) {
    return after == 0 ? 0 : std::copysign(std::numeric_limits<double>::infinity(), after);
  }
  return 100.0 * static_cast<double>(delta()) / std::abs(static_cast<double>(before));
}

std::string_view DiffStateName(DiffState state) {
  switch (state) {
    case DiffState::kSame:
      return "same";
    case DiffState::kChanged:
      return "changed";
    case DiffState::kAppeared:
      return "appeared";
    case DiffState::kVanished:
      return "vanished";
  }
  return "";
}

bool DiffRow::is_significant() const { return std::abs(deviations) >= kSignificant; }

namespace {

std::string_view FactOf(const ReportInput& input, std::string_view key) {
  const auto& traces = input.model.traces();
  return traces.empty() ? std::string_view() : traces.front().Fact(key);
}

// "cpu" of "cpu (POSIX timer)": the source of the samples, not its implementation.
std::string_view TimerOf(const ReportInput& input) {
  const std::string_view timer = FactOf(input, "timer");
  return timer.substr(0, timer.find(' '));
}

}  // namespace

std::vector<std::string> RecordedOtherwise(const ReportInput& before, const ReportInput& after) {
  std::vector<std::string> lines;
  for (const std::string_view key : {"mode", "record", "clock", "stack", "options"}) {
    const std::string_view a = FactOf(before, key);
    const std::string_view b = FactOf(after, key);
    if (a != b) lines.push_back(StrCat("recorded with another ", key, ": ", a, " and ", b));
  }
  return lines;
}

absl::Status CheckAlike(const ReportInput& before, const ReportInput& after) {
  if (before.model.unit() != after.model.unit()) {
    return absl::FailedPreconditionError(
        StrCat("times are in ", TimeUnitName(before.model.unit()), " in one trace and in ",
               TimeUnitName(after.model.unit()), " in the other: they cannot be compared"));
  }
  const std::string_view timer_before = TimerOf(before);
  const std::string_view timer_after = TimerOf(after);
  if (!timer_before.empty() && !timer_after.empty() && timer_before != timer_after) {
    return absl::FailedPreconditionError(StrCat("a tick is of timer=", timer_before,
                                                " in one trace and of timer=", timer_after,
                                                " in the other: record both with the same timer="));
  }
  const int64_t ticks_before = before.model.interval_ns();
  const int64_t ticks_after = after.model.interval_ns();
  if (ticks_before != 0 && ticks_after != 0 && ticks_before != ticks_after) {
    return absl::FailedPreconditionError(
        StrCat("a tick is ", ticks_before, " ns in one trace and ", ticks_after,
               " ns in the other: record both with the same interval="));
  }
  return absl::OkStatus();
}

double VariancePerTick(const ReportInput& input) {
  double squares = 0;
  double sum = 0;
  for (const LoggedSample& sample : input.samples.samples()) {
    const auto weight = static_cast<double>(sample.weight);
    squares += weight * weight;
    sum += weight;
  }
  return sum > 0 ? squares / sum : 1;
}

ProfileDiff Compare(const ReportInput& before, const ReportInput& after) {
  Rows rows;
  AddSide(before, &Change::before, rows);
  AddSide(after, &Change::after, rows);
  const double variance_before = VariancePerTick(before);
  const double variance_after = VariancePerTick(after);
  ProfileDiff diff;
  for (auto& [name, row] : rows) {
    row.name = name;
    row.deviations = Deviations(row.base_ticks, variance_before, variance_after);
    AddToTotal(row, diff.total);
    diff.rows.push_back(std::move(row));
  }
  diff.bytecodes = CostChange(before, after, LineCost::kInstructions);
  diff.cycles = CostChange(before, after, LineCost::kCycles);
  const int64_t whole_time = std::max(diff.total.base.before, diff.total.base.after);
  for (DiffRow& row : diff.rows) row.state = StateOf(row, whole_time);
  diff.total.deviations = Deviations(diff.total.base_ticks, variance_before, variance_after);
  std::stable_sort(diff.rows.begin(), diff.rows.end(),
                   [](const DiffRow& a, const DiffRow& b) { return Weight(a) > Weight(b); });
  return diff;
}

namespace {

// One method, maybe of several loaders.
struct MethodCost {
  uint64_t whole = 0;
  Methods methods;
};
using CostsByName = absl::btree_map<std::string, MethodCost>;

uint64_t CostOf(const LineCounts& line, LineCost cost) {
  return cost == LineCost::kInstructions ? line.instructions : line.cycles;
}

uint64_t CostOf(const MethodLines& method, LineCost cost) {
  return cost == LineCost::kInstructions ? method.instructions : method.cycles;
}

CostsByName CostsOf(const LineProfile& profile, LineCost cost) {
  CostsByName costs;
  for (const MethodLines& method : profile.methods) {
    MethodCost& entry = costs[FullName(method)];
    entry.whole = AddCounts(entry.whole, CostOf(method, cost));
    entry.methods.push_back(&method);
  }
  return costs;
}

using LineSpan = absl::Span<const LineCounts>;

// Drops the lines at both ends that cost the same.
void TrimEqual(LineSpan& before, LineSpan& after, LineCost cost) {
  while (!before.empty() && !after.empty() &&
         CostOf(before.front(), cost) == CostOf(after.front(), cost)) {
    before.remove_prefix(1);
    after.remove_prefix(1);
  }
  while (!before.empty() && !after.empty() &&
         CostOf(before.back(), cost) == CostOf(after.back(), cost)) {
    before.remove_suffix(1);
    after.remove_suffix(1);
  }
}

void AddChange(std::string name, uint64_t before, uint64_t after,
               std::vector<LineChange>& changes) {
  if (before != after) changes.push_back({std::move(name), before, after});
}

// Lines of the middle are the same if they are as far from its first line.
void CompareMiddle(const std::string& method, LineSpan before, LineSpan after, LineCost cost,
                   std::vector<LineChange>& changes) {
  const auto name = [&](int32_t line) { return StrCat(method, ":", line); };
  const int64_t first_before = before.empty() ? 0 : before.front().line;
  const int64_t first_after = after.empty() ? 0 : after.front().line;
  while (!before.empty() || !after.empty()) {
    const int64_t at_before = before.empty() ? 0 : before.front().line - first_before;
    const int64_t at_after = after.empty() ? 0 : after.front().line - first_after;
    const bool takes_before = !before.empty() && (after.empty() || at_before <= at_after);
    const bool takes_after = !after.empty() && (before.empty() || at_after <= at_before);
    AddChange(name(takes_after ? after.front().line : before.front().line),
              takes_before ? CostOf(before.front(), cost) : 0,
              takes_after ? CostOf(after.front(), cost) : 0, changes);
    if (takes_before) before.remove_prefix(1);
    if (takes_after) after.remove_prefix(1);
  }
}

void CompareMethod(const std::string& name, const MethodCost& before, const MethodCost& after,
                   LineCost cost, std::vector<LineChange>& changes) {
  if (before.whole == after.whole) return;
  const std::vector<LineCounts> lines_before = MergeLines(before.methods);
  const std::vector<LineCounts> lines_after = MergeLines(after.methods);
  if (lines_before.empty() && lines_after.empty()) {
    AddChange(name, before.whole, after.whole, changes);
    return;
  }
  LineSpan span_before = lines_before;
  LineSpan span_after = lines_after;
  TrimEqual(span_before, span_after, cost);
  CompareMiddle(name, span_before, span_after, cost, changes);
}

}  // namespace

uint64_t TotalCost(const LineProfile& profile, LineCost cost) {
  uint64_t sum = 0;
  for (const MethodLines& method : profile.methods) sum = AddCounts(sum, CostOf(method, cost));
  return sum;
}

std::vector<LineChange> ChangedLines(const LineProfile& before, const LineProfile& after,
                                     LineCost cost) {
  const CostsByName costs_before = CostsOf(before, cost);
  const CostsByName costs_after = CostsOf(after, cost);
  const MethodCost none;
  std::vector<LineChange> changes;
  for (const auto& [name, of_before] : costs_before) {
    const auto found = costs_after.find(name);
    CompareMethod(name, of_before, found == costs_after.end() ? none : found->second, cost,
                  changes);
  }
  for (const auto& [name, of_after] : costs_after) {
    if (!costs_before.contains(name)) CompareMethod(name, none, of_after, cost, changes);
  }
  std::stable_sort(changes.begin(), changes.end(), [](const LineChange& a, const LineChange& b) {
    return a.magnitude() > b.magnitude();
  });
  return changes;
}

}  // namespace jtrace::postproc
