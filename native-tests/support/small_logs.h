// A trace of two routines, with logs that tests fill.
#pragma once

#include <cstdint>
#include <vector>

#include "native-tests/support/trace_builder.h"

namespace jtrace::testing {

// "A.f()" is routine 1, "A.g()" 2; thread 1 is "main".
inline TraceBuilder TwoRoutines() {
  TraceBuilder builder;
  builder.Thread("main", 1);
  const uint32_t owner = builder.Class("A");
  builder.Routine(owner, "f", "()V");
  builder.Routine(owner, "g", "()V");
  return builder;
}

// A log of thread 1.
inline proto::EventLog& AddLog(TraceBuilder& builder, uint64_t time,
                               const std::vector<uint32_t>& ops,
                               const std::vector<uint64_t>& deltas) {
  proto::EventLog& log = *builder.chunk().add_log();
  log.set_thread(1);
  log.set_time_ns(time);
  for (const uint32_t op : ops) log.add_op(op);
  for (const uint64_t delta : deltas) log.add_delta_ns(delta);
  return log;
}

inline constexpr uint32_t kEnterF = 1 << 2;
inline constexpr uint32_t kExitF = 1 << 2 | 2;
inline constexpr uint32_t kEnterG = 2 << 2;
inline constexpr uint32_t kExitG = 2 << 2 | 2;

}  // namespace jtrace::testing
