// Writes the thread switches that the kernel records (codes=+switch, events 0x11), with every
// clock= and record=. Attach and End on any thread; the rest on the writer's.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "agent/base/clock.h"
#include "agent/base/losses.h"
#include "agent/trace/chunk_source.h"

namespace jtrace::samples {

// A thread gets or leaves a processor, as the kernel records it (perf_event_open(2),
// PERF_RECORD_SWITCH).
struct ContextSwitch {
  uint64_t monotonic_ns = 0;
  bool is_on = false;  // it gets the processor
};

// The kernel's records of one thread. They can be read after its end, too. One thread uses an
// object at a time.
class ContextSwitchRing {
 public:
  // Starts recording. An error says what forbids it, and the remedy.
  static absl::StatusOr<ContextSwitchRing> Open(pid_t tid);
  ContextSwitchRing(ContextSwitchRing&& other) noexcept;
  ContextSwitchRing& operator=(ContextSwitchRing&& other) noexcept;
  ~ContextSwitchRing();

  // Visits the records since the last call, in their order. Returns how many the kernel dropped.
  uint64_t Read(absl::FunctionRef<void(const ContextSwitch&)> visit);

 private:
  explicit ContextSwitchRing(void* memory) : memory_(memory) {}

  void* memory_ = nullptr;
};

// Comes after the source of logs: a switch is written when all logged entries and exits before it
// are written, and none after it.
class ContextSwitchSource : public trace::ChunkSource {
 public:
  ContextSwitchSource(const RecordingClock& clock, Losses& losses)
      : clock_(clock), losses_(losses) {}

  // Records the switches of a thread from now on. `number`: Thread.id.
  void Attach(uint32_t number, pid_t tid);
  // The thread is about to end.
  void End(uint32_t number);

  // Writes the switches of the thread up to that time. Its log up to there was just written.
  void AddUntil(uint32_t number, uint64_t until_ns, proto::Chunk& chunk);
  void Poll(proto::Chunk& chunk) override;
  void EndFile(bool, proto::Chunk&) override { file_ends_ = true; }
  void AddChanges(uint64_t time_ns, proto::Chunk& chunk) override;

 private:
  struct Thread {
    ContextSwitchRing ring;
    std::vector<ContextSwitch> pending;  // read, not written
    bool has_ended = false;
  };

  void ReadRing(Thread& thread) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Write(uint32_t number, Thread& thread, uint64_t until_ns, proto::Chunk& chunk)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void WriteAll(uint64_t until_ns, proto::Chunk& chunk);

  const RecordingClock& clock_;
  Losses& losses_;
  absl::Mutex mutex_;
  absl::flat_hash_map<uint32_t, Thread> threads_ ABSL_GUARDED_BY(mutex_);
  uint64_t lost_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t last_poll_ns_ = 0;  // recording time; logs before it are written
  bool file_ends_ = false;
};

}  // namespace jtrace::samples
