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
struct PlacedHook {
  uint32_t placement = 0;  // SiteBinding.placement
  uint32_t site = 0;       // PatchSite.number
  uintptr_t address = 0;
  std::string name;     // "libc.so.6!malloc"
  std::string symbol;   // mangled, also with its object
  std::string pattern;  // the pattern that requested it
  HookKind kind = HookKind::kCount;
  // The site's counts when the hook was placed.
  uint64_t calls_before = 0;
  uint64_t unattributed_before = 0;
};

// The process has one, never freed, like its sites. Any thread but signal handlers. Its mutex is
// held while code is written, and never by a thread that a safepoint could wait for.
class Hooks {
 public:
  explicit Hooks(Losses& losses) : losses_(losses) {}
  Hooks(const Hooks&) = delete;
  Hooks& operator=(const Hooks&) = delete;

  // Begins a recording: places its hooks. Those in objects that are not loaded yet are pending
  // (SearchObjects). Failures are reported as losses.
  void Begin(const std::vector<HookSpec>& specs);
  // Applies the specs to the recording that runs, in their order, up to the first failure. Returns
  // what was done, for people.
  absl::StatusOr<std::string> Apply(const std::vector<HookSpec>& specs);
  // Returns the current hooks with their calls so far, for people.
  std::string Describe() const;
  // Ends the recording: removes every int3. Threads may still be in the handler.
  void End();

  // Returns the current hooks.
  std::vector<PlacedHook> All() const;
  // Returns the hooks placed after the first `before` ones of the process, except those of
  // recordings before the last one. A hook is listed before its first call.
  std::vector<PlacedHook> PlacedSince(uint64_t before) const;
  uint64_t placed_so_far() const;
  // The calls of a site so far, and how many of them no thread's table has.
  struct Calls {
    uint64_t calls = 0;
    uint64_t unattributed = 0;
  };
  Calls CallsOf(uint32_t site) const;

  // Places pending hooks in objects that were loaded meanwhile. Cheap if none was. Also for a
  // thread that holds the loader's lock, in an object's constructor: fails if the mutex is not
  // free within 0.1 s, because its holder may wait for that lock.
  void SearchObjects();
  bool has_pending() const;

  // Writer thread. Places an int3 at a return address of calls of timed functions; if that is not
  // allowed, reports it to the handler (untimed_returns).
  void PlaceReturnSite(uintptr_t address);
  // Writer thread, ten times a second. Keeps our handler installed while there are hooks.
  void EnsureTrapHandler();
  // Writer thread, once a second. Calls SearchObjects. Removes all hooks if int3 has become a
  // danger, because a thread blocks SIGTRAP; with many threads that is checked less often.
  void RefreshHooks();

 private:
  absl::Status Place(const HookSpec& spec, const Target& target);
  absl::Status Remove(const HookSpec& spec);
  absl::StatusOr<std::string> Change(const HookSpec& spec);
  absl::StatusOr<size_t> ApplyOne(const HookSpec& spec, const std::vector<LoadedDso>& objects);
  absl::Status PlaceAt(signal_safe::PatchSite& site, PlacedHook placed, bool is_entry);
  void Remove(const PlacedHook& placed);
  void RemoveAll();
  absl::Status PlaceReturn(uintptr_t address);
  void RemoveReturnHooks();
  void HookErrorReport(const std::vector<LoadedDso>& objects);
  absl::Status PrepareHandler();
  // Whether int3 is safe; if not, removes all hooks, pending ones too.
  bool IsStillSafe();
  void RemoveAllBecause(const absl::Status& danger);
  void ReportUnguarded();
  void ReportOtherLibc(const std::vector<Target>& targets);
  void ReportFailed(const HookSpec& spec, const absl::Status& status);

  Losses& losses_;
  mutable std::mutex mutex_;  // guards what follows
  PatchSiteTable table_;
  std::map<uintptr_t, PlacedHook> placed_;  // the current hooks, by address
  std::vector<PlacedHook> placements_;      // all of this recording, in their order
  uint64_t placed_before_ = 0;              // in earlier recordings
  uint32_t last_placement_ = 0;
  std::vector<HookSpec> pending_;  // for objects that are not loaded yet
  uint64_t objects_seen_ = 0;
  absl::flat_hash_set<uint32_t> returns_;     // sites with kHookReturn
  std::vector<uint32_t> error_report_sites_;  // sites with kHookRemoveAll
  absl::flat_hash_set<uintptr_t> refused_returns_;
  bool is_recording_ = false;
  uint64_t next_check_ns_ = 0;  // CLOCK_MONOTONIC
  uint64_t reported_replacements_ =
      0;  // trap_handler_replacements, up to which losses were reported
};

}  // namespace jtrace::native_hooks
