// blocks=on: numbers counters of blocks, and reads them while they are incremented.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "agent/signal_safe/arena.h"
#include "agent/signal_safe/atomic_access.h"
#include "agent/signal_safe/block_counts.h"
#include "agent/signal_safe/thread_state.h"

namespace jtrace::calls {

// The counters of one probe class. The shared ones stay mapped forever: compiled code has their
// address.
class BasicBlockCounters {
 public:
  // Reserves address space for the shared counters and those of threads; with `by_path`
  // (blocks=paths) for owners instead of those of threads. Error: ResourceExhausted.
  static absl::StatusOr<std::unique_ptr<BasicBlockCounters>> Reserve(bool by_path);
  BasicBlockCounters(const BasicBlockCounters&) = delete;
  BasicBlockCounters& operator=(const BasicBlockCounters&) = delete;

  // Address of the shared counters, for the probe class and threads that have none of their own.
  uint64_t shared_address() const { return reinterpret_cast<uintptr_t>(shared_->counts); }
  // blocks=paths: address of the owners (signal_safe::BlockOwner) by id; else 0.
  uint64_t owners_address() const { return reinterpret_cast<uintptr_t>(owners_); }
  bool is_by_path() const { return owners_ != nullptr; }

  // blocks=paths: sets the owner of ids that a method has taken. Before the method's code runs.
  void SetOwner(uint32_t first, uint32_t count, uint32_t routine, bool is_leaf);
  // Makes the ids taken so far those of earlier recordings: probes may use their counters' memory
  // for new ids. On the thread that begins a recording.
  void BeginRecording();
  uint64_t first_of_recording() const { return signal_safe::ReadRelaxed(shared_->recording); }
  // Call paths of this recording for whose counters there was no memory.
  uint64_t out_of_memory() const { return signal_safe::ReadRelaxed(shared_->out_of_memory); }

  // Returns the first of `count` new ids in a row. Any thread.
  uint32_t NewIds(uint32_t count) { return next_.fetch_add(count, std::memory_order_relaxed); }
  // Whether a class may still take ids.
  bool HasRoom() const {
    return next_.load(std::memory_order_relaxed) < signal_safe::kSharedBlockIds - kMaxOfAClass;
  }

  // On the writer thread.

  // Adds the counts of a thread that has ended and whose state is about to be released.
  void AddEnded(const signal_safe::ThreadState& state) { AddOwn(state, ended_); }
  // Returns the counts of all ids taken so far, over all threads, by id.
  std::vector<uint64_t> Collect(signal_safe::Arena* arena) const;
  // Zeroes the state's counters for another thread. Nothing may refer to them any more.
  void Free(const signal_safe::ThreadState& state);

 private:
  // An estimate of the most ids that one class takes.
  static constexpr uint32_t kMaxOfAClass = 4'000'000;

  BasicBlockCounters(signal_safe::SharedBlocks* shared, uint64_t* owners)
      : shared_(shared), owners_(owners) {}
  void AddOwn(const signal_safe::ThreadState& state, std::vector<uint64_t>& sums) const;

  bool HasOwn(const signal_safe::ThreadState& state) const {
    return state.blocks != 0 && state.blocks != shared_address();
  }

  signal_safe::SharedBlocks* const shared_;
  uint64_t* const owners_;  // null: not by path
  std::atomic<uint32_t> next_{1};
  std::vector<uint64_t> ended_;  // sums of ended threads, by id
};

}  // namespace jtrace::calls
