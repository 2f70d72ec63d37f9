// record=flat: reads the threads' counters while they are incremented.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "agent/calls/trees/memory_recyclers.h"
#include "agent/signal_safe/arena.h"
#include "agent/signal_safe/flat_state.h"
#include "agent/signal_safe/thread_state.h"

namespace jtrace::calls {

// Totals of a routine whose counts changed.
struct RoutineUpdate {
  uint32_t routine;
  uint64_t calls;
  uint64_t jitted;  // of `calls`
};

// The changes in one thread's counters; valid during the visit. Ascending by routine.
struct FlatUpdate {
  uint64_t java_tid;  // 0: all virtual threads, and routines beyond signal_safe::kFlatIds
  bool ended;         // the thread's last update
  absl::Span<const RoutineUpdate> routines;
};

// Reads all threads' counters (FlatState) and the shared ones. On the writer thread only.
class FlatCollector {
 public:
  explicit FlatCollector(signal_safe::Arena* arena) : arena_(arena), states_(arena) {}
  // blocks=on: `blocks` gets the counts of threads that end.
  void UseBlocks(BasicBlockCounters* blocks) { states_.UseBlocks(blocks); }

  // Calls `visit` for each thread that changed or ended since the last time; `routine_limit` is one
  // more than the greatest id given to a method so far.
  void Collect(uint32_t routine_limit, absl::FunctionRef<void(const FlatUpdate&)> visit);

  // A new file continues where the last one ended: counts are those since the last Collect.
  void BeginFile();
  // A new recording begins: earlier counts belong to none.
  void BeginRecording(uint32_t routine_limit);

  // Σ of the calls in all updates of the recording, and of the file.
  uint64_t total_calls() const { return total_calls_; }
  uint64_t file_calls() const { return total_calls_ - calls_before_file_; }

 private:
  // Counts as last reported, and as reported when the file began.
  struct Count {
    uint64_t calls = 0;
    uint64_t jitted = 0;
    uint64_t baseline_calls = 0;
    uint64_t baseline_jitted = 0;
  };
  // By routine, in blocks that exist only where a thread has called something: threads × routines
  // would be too much.
  static constexpr uint32_t kBlock = 256;
  using Block = std::array<Count, kBlock>;
  using Reported = std::vector<std::unique_ptr<Block>>;
  Count& CountOf(Reported& reported, uint32_t routine);
  // Leaves the changes in updates_.
  void CollectState(signal_safe::ThreadState& state, uint32_t limit);
  void CollectCounters(const signal_safe::FlatCounter* counters, uint32_t limit,
                       Reported& reported);

  signal_safe::Arena* arena_;
  StateRecycler states_;
  absl::flat_hash_map<const signal_safe::ThreadState*, Reported> reported_;
  std::vector<RoutineUpdate> updates_;
  uint64_t total_calls_ = 0;
  uint64_t calls_before_file_ = 0;
};

}  // namespace jtrace::calls
