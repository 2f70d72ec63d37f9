// Makes ReducedCalls from a log's entries and exits. Any thread; one thread uses an object at a
// time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "postproc/model/reduced_calls.h"
#include "postproc/reader/definitions.h"
#include "postproc/reader/log_cursor.h"

namespace jtrace::postproc {

class CallReducer {
 public:
  // Reads only `definitions`, which must be finished.
  explicit CallReducer(const Definitions& definitions) : definitions_(definitions) {}

  // A run begins; `time` is that of its first call.
  void Begin(int64_t time);
  // Takes the calls up to the first one whose effect depends on activations open before the run, or
  // whose routine was never defined; returns how many. Times that run back count as the last one.
  size_t Add(absl::Span<const LogCall> calls);
  const ReducedCalls& run() const { return run_; }
  // The run; call Begin for another.
  ReducedCalls Take();

 private:
  uint32_t current() const { return open_.empty() ? run_.outside.back() : open_.back().node; }
  void Advance(int64_t time);
  void Enter(RoutineId routine, bool jitted);
  bool Exit(RoutineId routine, int64_t time);
  void CloseInnermost();
  void AddOutside();
  uint32_t Child(uint32_t parent, RoutineId routine);

  const Definitions& definitions_;
  ReducedCalls run_;
  std::vector<ReducedCalls::Open> open_;
  absl::flat_hash_map<uint64_t, uint32_t> children_;  // by parent and routine
};

}  // namespace jtrace::postproc
