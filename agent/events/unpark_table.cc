#include "agent/events/unpark_table.h"

#include <algorithm>
#include <utility>

namespace jtrace::events {
namespace {

// The most intervals of a wait; the oldest are forgotten: hundreds of threads may queue for a lock.
constexpr size_t kMaxIntervals = 64;

}  // namespace

std::vector<WaitInterval> IntervalsOf(const Unpark& unpark, int32_t object, uint64_t begin_ns,
                                      uint64_t end_ns) {
  std::vector<WaitInterval> intervals;
  if (object != 0 && object == unpark.object) {
    const size_t forgotten =
        std::max(unpark.intervals.size(), kMaxIntervals - 1) - (kMaxIntervals - 1);
    for (size_t i = forgotten; i < unpark.intervals.size(); ++i) {
      const WaitInterval& interval = unpark.intervals[i];
      if (interval.until_ns > begin_ns && interval.until_ns < end_ns) intervals.push_back(interval);
    }
  }
  intervals.push_back({end_ns, unpark.by});
  return intervals;
}

const Releaser& CauseOfLongest(const std::vector<WaitInterval>& intervals, uint64_t begin_ns) {
  size_t longest = 0;
  uint64_t most = 0;
  uint64_t begin = begin_ns;
  for (size_t i = 0; i < intervals.size(); ++i) {
    const uint64_t time = intervals[i].until_ns - begin;
    if (time > most) {
      most = time;
      longest = i;
    }
    begin = intervals[i].until_ns;
  }
  return intervals[longest].by;
}

void UnparkTable::Add(uint64_t target, const Unpark& unpark) {
  Shard& shard = ShardOf(target);
  absl::MutexLock lock(&shard.mutex);
  if (shard.unparks.size() >= kMaxInShard) shard.unparks.clear();
  shard.unparks.try_emplace(target, unpark);
}

std::optional<Unpark> UnparkTable::Remove(uint64_t target) {
  Shard& shard = ShardOf(target);
  absl::MutexLock lock(&shard.mutex);
  const auto found = shard.unparks.find(target);
  if (found == shard.unparks.end()) return std::nullopt;
  Unpark unpark = std::move(found->second);
  shard.unparks.erase(found);
  return unpark;
}

void UnparkTable::Clear() {
  for (Shard& shard : shards_) {
    absl::MutexLock lock(&shard.mutex);
    shard.unparks.clear();
  }
}

}  // namespace jtrace::events
