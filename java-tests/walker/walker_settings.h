// The command-line settings of the walker's test agent.
#pragma once

#include <cstdint>
#include <string>

#include "agent/samples/sampler.h"

namespace jtrace::walker_test {

// KEY=VALUE,… by the names below, except for `sampler`: interval_us (1000), timer
// (auto|perf|posix), check_last_walk (1: no remembered chain may differ from the full walk),
// max_frames.
struct WalkerSettings {
  samples::SamplerOptions sampler;
  double min_root = 99;      // percent of chains that must reach the root
  double max_inexact = 3;    // percent of paths whose interrupted frame is described wrongly
  double max_unequal = 100;  // percent of paths that are not the published ones, for any reason
  uint64_t min_samples = 20;
  bool reports = true;  // reports=0: once they are not needed, compiled methods are not reported
  uint64_t steps = 0;   // instructions to walk at, one by one (stepper.h); 0: none
  int dump = 3;         // failed chains to print
  std::string report;   // file for the statistics; empty: none
};

// Ends the process with status 3 for an unknown setting.
WalkerSettings ParseWalkerSettings(const char* text);

}  // namespace jtrace::walker_test
