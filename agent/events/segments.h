// Records named segments of the program's code (S3.28): one record of the begin, one of the end
// with the time in between. Only the first segments of each second have records; the others are
// counted, with their times, by name.
//
// Threads: any, Java ones and others, but not in signal handlers; AddChanges and BeginFile on the
// writer thread. Segments of a thread nest only if the program ends the innermost one first. Begin
// and End do not check this; jtrace.api.Segment does for Java, ThreadSegments below for native
// code.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "agent/events/event_recorder.h"

namespace jtrace::events {

class Segments : public EventRecorder, public trace::ChunkSource {
 public:
  static constexpr uint32_t kMaxNames = 1000;
  static constexpr size_t kMaxNameBytes = 256;

  // Returns the calling thread's number in the trace; 0: it has none.
  using ThreadNumber = std::function<uint32_t()>;

  Segments(const RecordingClock& clock, trace::RecordEncoder& encoder,
           trace::EventRateLimiter& limits, Losses& losses, ThreadNumber thread_number);
  // Only in tests: the agent's live as long as the process.
  ~Segments() override;

  absl::Span<const Code> codes() const override;
  // Segments that began before Start are not in the recording.
  void Start(const EventCodeSet& codes) override;
  void Stop() override { is_on_.store(false, std::memory_order_relaxed); }
  trace::ChunkSource* chunk_source() override { return this; }

  // Returns the number of a name, which is cut to kMaxNameBytes; valid for the life of the JVM. All
  // names beyond kMaxNames get the number of "[other]".
  uint32_t Number(absl::string_view name);
  // False: no name has this number.
  bool Has(uint32_t number) const { return Find(number) != nullptr; }

  // Begins a segment. Returns a value for its End; never 0.
  uint64_t Begin(uint32_t number);
  // Ends a segment. `in_turn`: it is its thread's innermost open one. `begun` 0: it was not open.
  void End(uint32_t number, uint64_t begun, bool in_turn);

  void AddChanges(uint64_t time_ns, proto::Chunk& chunk) override;
  void BeginFile() override;

 private:
  // The segments of one name that have no record.
  struct Counts {
    uint64_t count = 0;
    uint64_t total_ns = 0;
    uint64_t min_ns = 0;
    uint64_t max_ns = 0;
  };
  struct Name {
    const std::string text;
    std::mutex mutex = {};      // guards all below
    uint64_t recording_ns = 0;  // the start of the recording that they belong to
    Counts ended = {};          // in this file
    uint64_t open = 0;
    bool changed = false;
  };

  // Returns when the present recording began (CLOCK_MONOTONIC); 0: none records segments.
  uint64_t RecordingNow() const {
    return is_on_.load(std::memory_order_acquire) ? began_ns_.load(std::memory_order_relaxed) : 0;
  }
  // Null: no name has this number.
  Name* Find(uint32_t number) const {
    return number <= kMaxNames ? names_[number].load(std::memory_order_acquire) : nullptr;
  }
  // Makes the name count for a recording; false: a later one has begun. Under the name's mutex.
  static bool BelongsTo(uint64_t recording_ns, Name& name);
  void CountEnd(uint64_t recording_ns, uint64_t took_ns, Name& name);
  void ForEachOfRecording(absl::FunctionRef<void(Name&)> visit);
  void Record(uint64_t time_ns, uint32_t minor, int64_t value, const Name& name);

  const RecordingClock& clock_;
  trace::RecordEncoder& encoder_;
  trace::EventRateLimiter& limits_;
  Losses& losses_;
  const ThreadNumber thread_number_;
  std::atomic<bool> is_on_{false};
  std::atomic<uint64_t> began_ns_{0};  // CLOCK_MONOTONIC; of the last recording
  std::mutex mutex_;                   // held to make a name
  absl::flat_hash_map<std::string, uint32_t> numbers_;
  // By number, the first is "[other]"; never freed, because threads may still use them when the JVM
  // ends.
  std::array<std::atomic<Name*>, kMaxNames + 1> names_ = {};
};

// The open segments of the calling native thread, innermost last.
class ThreadSegments {
 public:
  static constexpr size_t kMaxOpen = 1000;

  enum class Begun { kYes, kTooMany, kThreadEnds };
  static Begun Begin(Segments& segments, uint32_t number);
  // Ends the innermost open segment of this number, and those inside of it. False: none is open.
  static bool End(Segments& segments, uint32_t number);
};

}  // namespace jtrace::events
