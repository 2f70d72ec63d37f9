// Events that may occur millions of times: all are counted, with their times; the first ones of
// each second are also recorded. Count and Ended on any thread, without a lock; Seal on the writer
// thread.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "agent/base/codes.h"
#include "agent/base/losses.h"
#include "agent/trace/chunk_source.h"

namespace jtrace::trace {

class LimitedEvents : public trace::ChunkSource {
 public:
  // Records a second of a kind; of I/O and parks, which a few threads can do that often.
  static constexpr uint64_t kRecordsASecond = 1000;
  static constexpr uint64_t kIoRecordsASecond = 20'000;

  explicit LimitedEvents(Losses& losses) : losses_(losses) {}

  // The event has begun. Returns whether it may have a record.
  bool Count(Code code, uint64_t now_ns);
  // The event has ended and took this long.
  void Ended(Code code, uint64_t duration_ns);
  // A recording begins.
  void Reset();

  void Seal(uint64_t time_ns, proto::Chunk& chunk) override;

 private:
  struct Total {
    std::atomic<uint64_t> count{0};
    std::atomic<uint64_t> recorded{0};
    std::atomic<uint64_t> time_ns{0};
    // The current second of the session << 20 | records in it.
    std::atomic<uint64_t> window{0};
  };

  Losses& losses_;
  std::array<Total, kCodeCount> totals_;
};

}  // namespace jtrace::trace
