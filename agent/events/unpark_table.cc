#include "agent/events/unpark_table.h"

#include <algorithm>
#include <utility>

namespace jtrace::events {
namespace {

// The most parts of a wait; the oldest are forgotten: hundreds of threads may queue for a lock.
constexpr size_t kMaxParts = 64;

}  // namespace

std::vector<Part> PartsOf(const Unpark& unpark, int32_t object, uint64_t begin_ns,
                          uint64_t end_ns) {
  std::vector<Part> parts;
  if (object != 0 && object == unpark.object) {
    const size_t forgotten = std::max(unpark.parts.size(), kMaxParts - 1) - (kMaxParts - 1);
    for (size_t i = forgotten; i < unpark.parts.size(); ++i) {
      const Part& part = unpark.parts[i];
      if (part.until_ns > begin_ns && part.until_ns < end_ns) parts.push_back(part);
    }
  }
  parts.push_back({end_ns, unpark.by});
  return parts;
}

const Releaser& LongestOf(const std::vector<Part>& parts, uint64_t begin_ns) {
  size_t longest = 0;
  uint64_t most = 0;
  uint64_t begin = begin_ns;
  for (size_t i = 0; i < parts.size(); ++i) {
    const uint64_t time = parts[i].until_ns - begin;
    if (time > most) {
      most = time;
      longest = i;
    }
    begin = parts[i].until_ns;
  }
  return parts[longest].by;
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
