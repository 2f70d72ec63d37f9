// What the program's threads did in real time (timer=wall): ran, or waited, on what and where.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "postproc/report/report.h"

namespace jtrace::postproc {

// A state of threads.
struct StateTime {
  SampleState state = SampleState::kRunning;
  int64_t ticks = 0;
  // The application's method in which the most of that was, the class of the object waited on, and
  // the ticks there; empty: unknown, or it ran.
  std::string_view site;
  std::string_view on;
  int64_t of_site = 0;
};

// Most ticks first; empty if no sample found a thread that did not run.
std::vector<StateTime> RealTimeOfProgram(const ReportInput& input);

}  // namespace jtrace::postproc
