// Writes calls of hooked native functions into a chunk (HookCalls). Writer thread only.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "agent/base/losses.h"
#include "agent/native_hooks/hook_thread.h"
#include "agent/native_hooks/hooks.h"
#include "agent/samples/sample_source.h"
#include "agent/trace/chunk_source.h"
#include "agent/trace/record_encoder.h"

namespace jtrace::native_hooks {

// Fetches the threads' counts at hooks. The only reader of the process' tables (HookThread).
class HookRowReader {
 public:
  // Passes on the rows counted since the last call, except those of threads that are in the handler
  // now. Several rows may have the same caller.
  void Drain(absl::FunctionRef<void(const HookRow&)> take);
  // Whether Drain had to leave something.
  bool has_left() const { return has_left_; }
  // Passes on the return addresses at which timed calls need a site.
  void ForEachWantedReturn(absl::FunctionRef<void(uintptr_t)> take);
  // Makes the tables of ended threads available to others.
  void Recycle();

 private:
  bool has_left_ = false;
};

class HookSource : public trace::ChunkSource {
 public:
  // Threads and tree nodes are numbered as in SampleSource; `node_number` null: there are no trees.
  HookSource(native_hooks::Hooks& hooks, trace::RecordEncoder& encoder, Losses& losses,
             samples::SampleSource::ThreadNumber thread_number,
             samples::SampleSource::NodeNumber node_number);

  void Poll(proto::Chunk& chunk) override;
  void AddChanges(uint64_t time_ns, proto::Chunk& chunk) override;
  void EndFile(bool is_last, proto::Chunk& chunk) override;
  void BeginFile() override;

 private:
  using Jumped = std::array<uint32_t, native_hooks::HookCaller::kMaxJumps>;
  // hook, thread, node, position_unknown, caller, jumped
  using Key = std::tuple<uint32_t, uint32_t, uint32_t, bool, uint64_t, Jumped>;

  void Add(const native_hooks::HookRow& row);
  void AddUnattributed();
  proto::HookCalls& Total(const Key& key);
  // The trace's number of a placement's hook; 0: the hook belongs to an earlier recording.
  uint32_t HookOf(uint32_t placement);
  Jumped JumpedOf(const native_hooks::HookCaller& caller);
  uint32_t ThreadOf(const native_hooks::HookCaller& caller);
  void ReadPlacedHooks();
  void Define(proto::Chunk& chunk);
  void ReportLosses();

  native_hooks::Hooks& hooks_;
  trace::RecordEncoder& encoder_;
  Losses& losses_;
  const samples::SampleSource::ThreadNumber thread_number_;
  const samples::SampleSource::NodeNumber node_number_;
  native_hooks::HookRowReader reader_;
  // Calls of a site that no thread's table has.
  struct Unattributed {
    uint32_t hook;  // the site's last one
    uint64_t reported;
  };
  uint64_t placements_read_;                     // how many of Hooks::placed_so_far are read
  std::vector<native_hooks::PlacedHook> known_;  // by Hook.id - 1: each hook's first placement
  // Hook.id by site and kind, and by placement.
  absl::flat_hash_map<std::pair<uint32_t, native_hooks::HookKind>, uint32_t> by_kind_;
  absl::flat_hash_map<uint32_t, uint32_t> by_placement_;
  absl::flat_hash_map<uint32_t, Unattributed> unattributed_;  // by site
  uint64_t unwinds_missed_before_;
  uint64_t open_dropped_before_;
  uint64_t unwound_calls_before_;
  size_t defined_ = 0;  // how many of known_ the file has
  uint32_t other_threads_ = 0;
  std::vector<proto::HookCalls> totals_;  // of the file
  absl::flat_hash_map<Key, uint32_t> index_;
  absl::flat_hash_set<uint32_t> changed_;  // indexes in totals_, since the last AddChanges
};

}  // namespace jtrace::native_hooks
