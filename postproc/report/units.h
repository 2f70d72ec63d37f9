// Numbers for people: "1,234,567", "12.3 ms", "99.8 %".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "postproc/model/trace_model.h"

namespace jtrace::postproc {

// 1234567 → "1,234,567"
std::string FormatCount(int64_t value);
// "1 thread", "1,234 threads"; `plural` if it is not the word and an s.
std::string Counted(int64_t count, std::string_view what, std::string_view plural = "");
// The same of a text that begins with the counted things in the plural: "1 chunk missing".
std::string CountedText(int64_t count, std::string_view what);
// The width of columns that hold any practical count of calls.
inline constexpr int kCallsWidth = 15;
// 99.83 → "99.8 %"
std::string FormatPercent(double percent);
// Nanoseconds with four significant digits and the fitting unit.
std::string FormatNanoseconds(double ns);
std::string FormatBytes(double bytes);
// 100 · part / whole; 0 of nothing.
double PercentOf(int64_t part, int64_t whole);

// The units of a report's numbers.
struct Units {
  TimeUnit time = TimeUnit::kNanoseconds;
  int64_t interval_ns = 0;  // of one tick; 0: unknown

  std::string Time(int64_t value) const;
  std::string Ticks(int64_t value) const;
};

}  // namespace jtrace::postproc
