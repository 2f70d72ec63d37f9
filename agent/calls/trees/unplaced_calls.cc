#include "agent/calls/trees/unplaced_calls.h"

#include <algorithm>

namespace jtrace::calls {

using signal_safe::ReadRelaxed;

std::vector<RoutineUpdate> UnplacedCalls::Collect(uint32_t routine_limit) {
  std::vector<RoutineUpdate> updates;
  if (ReadRelaxed(arena_->lost) == 0) return updates;
  const uint32_t limit = std::min(routine_limit, signal_safe::kMaxRoutines);
  if (known_.size() < limit) known_.resize(limit);
  for (uint32_t routine = 0; routine < limit; ++routine) {
    const signal_safe::FlatCounter& counter = arena_->shared.counters[routine];
    const uint64_t total = ReadRelaxed(counter.jitted) + ReadRelaxed(counter.interpreted);
    Known& known = known_[routine];
    if (total == known.reported) continue;
    updates.push_back({routine, total - known.baseline, 0});
    calls_ += total - known.reported;
    known.reported = total;
  }
  return updates;
}

void UnplacedCalls::BeginFile() {
  for (Known& known : known_) known.baseline = known.reported;
}

void UnplacedCalls::BeginRecording() {
  Collect(static_cast<uint32_t>(known_.size()));
  calls_ = 0;
  BeginFile();
}

}  // namespace jtrace::calls
