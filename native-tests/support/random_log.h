// Random logs (record=log), each as a binary trace and as the equivalent text.
#pragma once

#include <cstdint>
#include <string>

namespace jtrace::testing {

struct RandomLog {
  std::string binary;
  std::string text;
};

// Threads with entries and exits (recursion, lost exits), positions, thread switches, samples and
// dropped stretches; with and without a clock; in chunks that cut every thread's log somewhere. The
// same seed gives the same log everywhere.
RandomLog MakeRandomLog(uint64_t seed);

}  // namespace jtrace::testing
