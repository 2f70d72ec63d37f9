// Calls of threads for which there was no memory at all: exact, but by routine only. On the writer
// thread only.
#pragma once

#include <cstdint>
#include <vector>

#include "agent/hot/layout.h"
#include "agent/probes/flat_collector.h"

namespace jtrace {

class UnplacedCounts {
 public:
  explicit UnplacedCounts(const hot::Arena* arena) : arena_(arena) {}

  // Those below `routine_limit` that changed since the last time, totals of the file.
  std::vector<RoutineUpdate> Collect(uint32_t routine_limit);
  void BeginFile();
  void BeginRecording();
  // Calls of the recording.
  uint64_t calls() const { return calls_; }

 private:
  struct Known {
    uint64_t reported = 0;
    uint64_t baseline = 0;
  };
  const hot::Arena* arena_;
  std::vector<Known> known_;  // by routine
  uint64_t calls_ = 0;
};

}  // namespace jtrace
