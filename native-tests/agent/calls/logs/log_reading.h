// A thread, and the content of its log as a collector visits it.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "agent/calls/logs/log_collector.h"
#include "native-tests/agent/calls/trees/probe_double.h"

namespace jtrace::testing {

// Everything that was visited, in its order: ops as they are, controls as {kind, value, time}.
struct Visited {
  struct Control {
    size_t index;
    signal_safe::LogRecordKind kind;
    uint64_t value, time;
    bool operator==(const Control&) const = default;
  };
  std::vector<uint32_t> ops;
  std::vector<uint64_t> times;
  std::vector<Control> controls;
  std::vector<uint64_t> since;  // of each run

  void operator()(const calls::LogRun& run) {
    for (const calls::LogControl& control : run.controls) {
      controls.push_back({ops.size() + control.index, control.kind, control.value, control.time});
    }
    ops.insert(ops.end(), run.ops.begin(), run.ops.end());
    times.insert(times.end(), run.times.begin(), run.times.end());
    since.push_back(run.since);
  }
};

constexpr uint32_t Enter(uint32_t routine) { return routine << 2; }
constexpr uint32_t Exit(uint32_t routine) { return routine << 2 | 2; }

class LogReading : public ::testing::Test {
 protected:
  Visited Poll(calls::LogCollector& collector) {
    Visited visited;
    while (collector.Poll(std::ref(visited))) {
    }
    return visited;
  }

  TestArena arena_;
  calls::ClockScale scale_ = calls::ClockScale::Nanoseconds();
  ProbeDouble thread_{arena_.get(), 7};
};

}  // namespace jtrace::testing
