// The log of a made-up program, for benchmarks and tests of long logs (record=log).
#pragma once

#include <cstdint>
#include <string>

namespace jtrace::testing {

// The properties of such a log.
struct LogTraceOptions {
  uint64_t events = 1000000;
  int threads = 1;
  int routines = 2000;
  bool clock = true;
  uint64_t events_a_chunk = 250000;
  uint64_t events_a_log = 5000;
};

// Every routine has a body of a few call sites, some in loops, some used occasionally, some
// recursive; threads run the same program from different routines. All activations are closed
// at the end, so that enters are half of the events.
std::string LogTrace(const LogTraceOptions& options);

}  // namespace jtrace::testing
