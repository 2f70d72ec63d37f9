// The hooks of a recording: places the hooks that hook= and `jtrace hook` request in the program's
// code.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "agent/base/losses.h"
#include "agent/native_hooks/hook_targets.h"
#include "agent/native_hooks/patch_site_table.h"
#include "agent/signal_safe/patch_sites.h"

namespace jtrace::native_hooks {

// A hook that is, or was, in a function.
struct Placed {
  uint32_t placement = 0;  // HookDuty.placement
  uint32_t site = 0;       // PatchSite.number
  uintptr_t address = 0;
  std::string name;     // "libc.so.6!malloc"
  std::string symbol;   // mangled, also with its object
  std::string pattern;  // the pattern that requested it
  HookKind kind = HookKind::kCount;
  // The site's calls when the hook was placed.
  uint64_t calls_before = 0;
  uint64_t unattributed_before = 0;
};

// Created once, never freed, like its sites. Any thread but handlers; one mutex, which is held
// while code is written, and never by a thread that a safepoint could wait for.
class Hooks {
 public:
  explicit Hooks(Losses& losses) : losses_(losses) {}
  Hooks(const Hooks&) = delete;
  Hooks& operator=(const Hooks&) = delete;

  // A recording begins: places its hooks. Looks for objects that are not loaded yet from then on.
  // Failures are reported as losses.
  void Begin(const std::vector<HookSpec>& specs);
  // While it runs: applies the specs in their order, up to the first failure. Returns a description
  // of what was done, for people.
  absl::StatusOr<std::string> Apply(const std::vector<HookSpec>& specs);
  // The current hooks with their calls so far, for people.
  std::string Describe() const;
  // Removes every int3. Threads may still be in the handler.
  void End();

  // The current hooks.
  std::vector<Placed> All() const;
  // All hooks placed after the first `before` ones, in any recording; those of recordings before
  // the last one are forgotten. A hook is listed before its first call.
  std::vector<Placed> PlacedSince(uint64_t before) const;
  uint64_t placed_so_far() const;
  // The calls of a site so far, and those of them that no thread's table has.
  struct Calls {
    uint64_t calls = 0;
    uint64_t unattributed = 0;
  };
  Calls CallsOf(uint32_t site) const;

  // Places hooks in objects that were loaded meanwhile. Cheap if none was. Any thread, even one in
  // an object's constructor: it does not wait for the mutex longer than others wait for the
  // loader's lock.
  void SearchObjects();
  bool has_pending() const;

  // Writer thread. Places a site at the return address of calls of timed functions, once for each
  // address.
  void AwaitReturns(uintptr_t address);
  // Keeps our handler of traps installed while there are hooks. Each poll.
  void EnsureTrapHandler();
  // SearchObjects, and checks whether int3 has become a danger: a thread that blocks SIGTRAP,
  // another handler for it. Once a second; less often with many threads.
  void CheckHooks();

 private:
  absl::Status Place(const HookSpec& spec, const Target& target);
  absl::Status Remove(const HookSpec& spec);
  absl::StatusOr<std::string> Change(const HookSpec& spec);
  absl::StatusOr<size_t> ApplyOne(const HookSpec& spec, const std::vector<LoadedObject>& objects);
  absl::Status PutIn(signal_safe::PatchSite& site, Placed placed, bool is_entry);
  void Remove(const Placed& placed);
  void RemoveAll();
  absl::Status PutReturn(uintptr_t address);
  void RemoveReturnHooks();
  void GuardErrorReport(const std::vector<LoadedObject>& objects);
  absl::Status Ready();
  // Whether int3 is safe; if not, removes all hooks and no longer waits to place any.
  bool IsStillSafe();
  void RemoveAllBecause(const absl::Status& danger);
  void ReportUnguarded();
  void ReportOtherLibc(const std::vector<Target>& targets);
  void ReportFailed(const HookSpec& spec, const absl::Status& status);

  Losses& losses_;
  mutable std::mutex mutex_;  // guards what follows
  PatchSiteTable table_;
  std::map<uintptr_t, Placed> placed_;  // in place
  std::vector<Placed> log_;             // of this recording, in their order
  uint64_t placed_before_ = 0;          // in earlier recordings
  uint32_t last_placement_ = 0;
  std::vector<HookSpec> pending_;  // for objects that are not loaded yet
  uint64_t objects_seen_ = 0;
  absl::flat_hash_set<uint32_t> returns_;  // sites of use kHookReturn
  std::vector<uint32_t> guards_;           // sites of use kHookEnd
  absl::flat_hash_set<uintptr_t> refused_returns_;
  bool is_recording_ = false;
  uint64_t next_check_ns_ = 0;  // CLOCK_MONOTONIC
  uint64_t fronts_seen_ = 0;    // trap_fronts_taken, up to which losses were reported
};

}  // namespace jtrace::native_hooks
