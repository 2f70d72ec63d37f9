// Events that may occur millions of times: all are counted, with their times; the first ones of
// each second are also recorded. Count and Ended on any thread, without a lock; AddChanges on the
// writer thread.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "agent/base/event_code_set.h"
#include "agent/base/losses.h"
#include "agent/trace/chunk_source.h"

namespace jtrace::trace {

class EventRateLimiter : public trace::ChunkSource {
 public:
  // The most records a second of each kind of event; I/O and ended parks have the second limit,
  // because a few threads can already exceed the first one.
  static constexpr uint64_t kRecordsASecond = 1000;
  static constexpr uint64_t kIoRecordsASecond = 20'000;

  explicit EventRateLimiter(Losses& losses) : losses_(losses) {}

  // Counts an event that begins. Returns whether it may have a record.
  bool Count(Code code, uint64_t now_ns);
  // Adds the duration of an event that has ended.
  void Ended(Code code, uint64_t duration_ns);
  // Sets all totals to 0, when a recording begins.
  void Reset();

  void AddChanges(uint64_t time_ns, proto::Chunk& chunk) override;
  void BeginFile() override;

 private:
  struct Numbers {
    uint64_t count = 0;
    uint64_t recorded = 0;
    uint64_t time_ns = 0;
  };
  struct Total {
    Numbers Now() const;

    std::atomic<uint64_t> count{0};
    std::atomic<uint64_t> recorded{0};
    std::atomic<uint64_t> time_ns{0};
    // The second of the recording in which the last record was made << 20 | records in it.
    std::atomic<uint64_t> window{0};
    // The writer thread's: as last sealed, and as the file before had them at its end.
    Numbers sealed;
    Numbers before_file;
  };

  Losses& losses_;
  std::array<Total, kCodeCount> totals_;
};

}  // namespace jtrace::trace
