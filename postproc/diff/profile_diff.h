// Two profiles, routine by routine: exact differences of calls, differences of ticks with their
// significance. Routines are the same if their names are.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "postproc/lines/line_profile.h"
#include "postproc/report/report.h"

namespace jtrace::postproc {

// What a line costs.
enum class LineCost : uint8_t { kInstructions, kCycles };

// A line of a method, or a method without line numbers, with another cost than before.
struct LineChange {
  std::string name;  // "a.B.run(int):12", by the number that it has now; gone: that it had
  uint64_t before = 0;
  uint64_t after = 0;

  uint64_t magnitude() const { return after > before ? after - before : before - after; }
};

uint64_t TotalCost(const LineProfile& profile, LineCost cost);

// The greatest changes first. Methods are the same if their names are. Lines that only moved have
// not changed: the lines of a method are compared in their order, without those at its beginning
// and end that cost the same as before.
std::vector<LineChange> ChangedLines(const LineProfile& before, const LineProfile& after,
                                     LineCost cost);

// A number before and after.
struct Change {
  int64_t before = 0;
  int64_t after = 0;
  int64_t delta() const { return WrapSub(after, before); }
  // Growth in percent; infinite from nothing to something.
  double percent() const;
};

// How a routine differs between the profiles.
enum class DiffState { kSame, kChanged, kAppeared, kVanished };
// "same", "changed", "appeared", "vanished"
std::string_view DiffStateName(DiffState state);

// A routine's numbers in both profiles.
struct DiffRow {
  std::string name;
  DiffState state = DiffState::kSame;
  Change calls;
  Change base;
  Change base_ticks;
  Change cum_ticks;
  Change metric;  // --metric
  // The difference of base_ticks in standard deviations: ticks are counts of independent samples.
  double deviations = 0;
  // At least kSignificant deviations, more than the same program varies by chance.
  bool is_significant() const;
};
inline constexpr double kSignificant = 3;

struct ProfileDiff {
  // Significant differences of ticks first, greatest first; then differences of calls; then names.
  std::vector<DiffRow> rows;
  DiffRow total;  // of all rows
  // Of all counted lines; both are 0 without counts of lines.
  Change bytecodes;
  Change cycles;
};

// A difference of self time is a change if it is at least that share of all time: times, unlike
// calls, differ from run to run.
inline constexpr double kMuchTime = 1;  // percent

// An error if the numbers of the two mean different things: other units, another interval or timer.
absl::Status CheckAlike(const ReportInput& before, const ReportInput& after);
// The other differences of the recordings, a line each: they, not the program, may be the cause of
// changes.
std::vector<std::string> RecordedOtherwise(const ReportInput& before, const ReportInput& after);

// Σ weight² / Σ weight: the variance of a sum of weights, for each tick. Timers that count several
// ticks as one sample make it greater than 1.
double VariancePerTick(const ReportInput& input);

// Threads' roots are not rows: their names differ from run to run.
ProfileDiff Compare(const ReportInput& before, const ReportInput& after);

}  // namespace jtrace::postproc
