// Events that may come by the million: all of them counted, with their times; the first so many a
// second also recorded. Count and Ended on any thread, without a lock; Seal on the writer thread.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "agent/base/losses.h"
#include "agent/trace/chunk_source.h"

namespace jtrace {

enum class LimitedEvent { kContended, kWait, kAllocation, kPrepare, kRedefine };
inline constexpr size_t kLimitedEventCount = static_cast<size_t>(LimitedEvent::kRedefine) + 1;

class LimitedEvents : public writer::ChunkSource {
 public:
  static constexpr uint64_t kRecordsASecond = 1000;

  explicit LimitedEvents(Losses& losses) : losses_(losses) {}

  // It has begun; says whether it may have a record.
  bool Count(LimitedEvent event, uint64_t now_ns);
  // It took this long.
  void Ended(LimitedEvent event, uint64_t duration_ns);
  // A recording begins.
  void Reset();

  void Seal(uint64_t time_ns, proto::Chunk& chunk) override;

 private:
  struct Total {
    std::atomic<uint64_t> count{0};
    std::atomic<uint64_t> recorded{0};
    std::atomic<uint64_t> time_ns{0};
    // The second of the session at hand << 20 | records in it.
    std::atomic<uint64_t> window{0};
  };

  Losses& losses_;
  std::array<Total, kLimitedEventCount> totals_;
};

}  // namespace jtrace
