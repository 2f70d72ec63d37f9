// Two profiles of lines: which lines cost more or less than before.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "postproc/lines/line_profile.h"

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

}  // namespace jtrace::postproc
