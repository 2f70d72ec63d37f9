// The counters of calls of threads that have no tree.
#pragma once

#include <cstdint>
#include <vector>

#include "agent/calls/trees/flat_collector.h"
#include "agent/signal_safe/arena.h"

namespace jtrace::calls {

// Calls of threads for which there was no memory at all: exact, but by routine only. On the writer
// thread only.
class UnplacedCalls {
 public:
  explicit UnplacedCalls(const signal_safe::Arena* arena) : arena_(arena) {}

  // Returns the file's totals that changed, of routines below `routine_limit`, with `jitted` 0.
  std::vector<RoutineUpdate> Collect(uint32_t routine_limit);
  void BeginFile();
  void BeginRecording();
  // Calls in the recording.
  uint64_t calls() const { return calls_; }

 private:
  struct Known {
    uint64_t reported = 0;
    uint64_t baseline = 0;
  };
  const signal_safe::Arena* arena_;
  std::vector<Known> known_;  // by routine
  uint64_t calls_ = 0;
};

}  // namespace jtrace::calls
