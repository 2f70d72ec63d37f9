#include "agent/calls/trees/flat_collector.h"

#include <algorithm>

namespace jtrace::calls {

using signal_safe::FlatState;
using signal_safe::ReadRelaxed;

void FlatCollector::Collect(uint32_t routine_limit,
                            absl::FunctionRef<void(const FlatUpdate&)> visit) {
  const uint32_t limit = std::min(routine_limit, signal_safe::kFlatIds);
  states_.FreeRetired();
  states_.RemoveEnded([&](signal_safe::ThreadState& state) {
    CollectState(state, limit);
    visit({state.java_tid, /*ended=*/true, updates_});
    reported_.erase(&state);
    states_.Retire(state);
  });
  states_.ForEachLive([&](signal_safe::ThreadState& state) {
    CollectState(state, limit);
    if (!updates_.empty()) visit({state.java_tid, /*ended=*/false, updates_});
  });
  updates_.clear();
  CollectCounters(arena_->shared.counters, std::min(routine_limit, signal_safe::kMaxRoutines),
                  reported_[&arena_->shared.state]);
  if (!updates_.empty()) visit({0, false, updates_});
}

void FlatCollector::CollectState(signal_safe::ThreadState& state, uint32_t limit) {
  updates_.clear();
  CollectCounters(reinterpret_cast<FlatState&>(state).counters, limit, reported_[&state]);
}

void FlatCollector::BeginFile() {
  for (auto& [state, counts] : reported_) {
    for (const auto& block : counts) {
      if (block == nullptr) continue;
      for (Count& count : *block) {
        count.baseline_calls = count.calls;
        count.baseline_jitted = count.jitted;
      }
    }
  }
  calls_before_file_ = total_calls_;
}

void FlatCollector::BeginRecording(uint32_t routine_limit) {
  Collect(routine_limit, [](const FlatUpdate&) {});
  total_calls_ = 0;
  BeginFile();
}

FlatCollector::Count& FlatCollector::CountOf(Reported& reported, uint32_t routine) {
  const uint32_t index = routine / kBlock;
  if (reported.size() <= index) reported.resize(index + 1);
  if (reported[index] == nullptr) reported[index] = std::make_unique<Block>();
  return (*reported[index])[routine % kBlock];
}

void FlatCollector::CollectCounters(const signal_safe::FlatCounter* counters, uint32_t limit,
                                    Reported& reported) {
  for (uint32_t routine = 0; routine < limit; ++routine) {
    const uint64_t jitted = ReadRelaxed(counters[routine].jitted);
    const uint64_t calls = jitted + ReadRelaxed(counters[routine].interpreted);
    if (calls == 0) continue;
    Count& known = CountOf(reported, routine);
    if (calls == known.calls) continue;
    updates_.push_back({routine, calls - known.baseline_calls, jitted - known.baseline_jitted});
    total_calls_ += calls - known.calls;
    known.calls = calls;
    known.jitted = jitted;
  }
}

}  // namespace jtrace::calls
