#include "agent/probes/flat_collector.h"

#include <algorithm>

namespace jtrace {

using hot::FlatState;
using hot::ReadRelaxed;

void FlatCollector::Collect(uint32_t routine_limit,
                            absl::FunctionRef<void(const FlatUpdate&)> visit) {
  states_.ForEach([&](hot::ThreadState& state, bool ended) {
    updates_.clear();
    CollectCounters(reinterpret_cast<FlatState&>(state).counters,
                    std::min(routine_limit, hot::kFlatIds), reported_[&state]);
    if (ended || !updates_.empty()) visit({state.tid, ended, updates_});
    if (ended) reported_.erase(&state);
  });
  updates_.clear();
  CollectCounters(arena_->shared.counters, std::min(routine_limit, hot::kMaxRoutines),
                  reported_[&arena_->shared.state]);
  if (!updates_.empty()) visit({0, false, updates_});
}

void FlatCollector::BeginFile() {
  for (auto& [state, counts] : reported_) {
    for (Count& count : counts) {
      count.base_calls = count.calls;
      count.base_jitted = count.jitted;
    }
  }
  calls_before_file_ = total_calls_;
}

void FlatCollector::BeginRecording(uint32_t routine_limit) {
  Collect(routine_limit, [](const FlatUpdate&) {});
  total_calls_ = 0;
  BeginFile();
}

void FlatCollector::CollectCounters(const hot::FlatCounter* counters, uint32_t limit,
                                    Reported& reported) {
  if (reported.size() < limit) reported.resize(limit);
  for (uint32_t routine = 0; routine < limit; ++routine) {
    const uint64_t jitted = ReadRelaxed(counters[routine].jitted);
    const uint64_t calls = jitted + ReadRelaxed(counters[routine].interpreted);
    Count& known = reported[routine];
    if (calls == known.calls) continue;
    updates_.push_back({routine, calls - known.base_calls, jitted - known.base_jitted});
    total_calls_ += calls - known.calls;
    known.calls = calls;
    known.jitted = jitted;
  }
}

}  // namespace jtrace
