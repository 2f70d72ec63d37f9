// The order in which a chunk's records are passed on, and the sums of its logs: made in advance by
// any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "postproc/model/record_visitor.h"
#include "postproc/reader/chunk_payload.h"
#include "postproc/reader/definitions.h"
#include "postproc/reader/least_run.h"
#include "postproc/reader/log_cursor.h"

namespace jtrace::postproc {

// Makes ReducedCalls from a log's entries and exits. Any thread; one thread uses an object at a
// time.
class CallReducer {
 public:
  // Reads only `definitions`, which must be finished.
  explicit CallReducer(const Definitions& definitions) : definitions_(definitions) {}

  // A run begins; `time` is that of its first call.
  void Begin(int64_t time);
  // Takes the calls up to the first one whose effect depends on activations open before the run, or
  // whose routine was never defined; returns how many. Times that run back count as the last one.
  size_t Add(absl::Span<const LogCall> calls);
  const ReducedCalls& run() const { return run_; }
  // The run; call Begin for another.
  ReducedCalls Take();

 private:
  uint32_t current() const { return open_.empty() ? run_.outside.back() : open_.back().node; }
  void Advance(int64_t time);
  void Enter(RoutineId routine, bool jitted);
  bool Exit(RoutineId routine, int64_t time);
  void CloseInnermost();
  void AddOutside();
  uint32_t Child(uint32_t parent, RoutineId routine);

  const Definitions& definitions_;
  ReducedCalls run_;
  std::vector<ReducedCalls::Open> open_;
  absl::flat_hash_map<uint64_t, uint32_t> children_;  // by parent and routine
};

// A reduced run of a thread's calls: it begins in log `log` where that many bytes of ops are left,
// and ends at `end` in log `end_log`.
struct LogRun {
  size_t log = 0;
  size_t ops_left = 0;
  size_t end_log = 0;
  LogCursor end;
  ReducedCalls calls;
};

// A thread's logs of a chunk.
struct ThreadLogs {
  std::vector<LogCursor> cursors;
  std::vector<LogRun> runs;  // in their order
  // // How far they were passed on.
  size_t next = 0;
  size_t next_run = 0;
};

class ChunkPlan {
 public:
  enum class Source : uint8_t { kEvent, kSample };
  struct Item {
    int64_t time = 0;
    Source source = Source::kEvent;
    int index = 0;        // of the event or sample
    uint32_t thread = 0;  // whose logs precede it
  };

  // Of a payload, which must outlive the plan's use. Uses only the payload.
  void Make(const ChunkPayload& payload);
  // Reduces runs of calls.
  void Reduce(CallReducer& reducer, LeastRun least);

  // Events and samples by time; one thread's events keep their order whatever their times.
  const std::vector<Item>& items() const { return items_; }
  absl::flat_hash_map<uint32_t, ThreadLogs>& logs() { return logs_; }
  // The threads that have logs, in the order of appearance.
  const std::vector<uint32_t>& log_threads() const { return log_threads_; }

 private:
  void CollectLogs(const std::vector<std::string_view>& logs);
  void CollectEvents(const proto::Chunk& chunk);
  void CollectSamples(const proto::Chunk& chunk);

  std::vector<Item> items_;
  absl::flat_hash_map<uint32_t, ThreadLogs> logs_;
  std::vector<uint32_t> log_threads_;
};

}  // namespace jtrace::postproc
