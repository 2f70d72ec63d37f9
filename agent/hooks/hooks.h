// The hooks of a recording: what hook= and `jtrace hook` ask for, put into the program's code.
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
#include "agent/hooks/hook_spec.h"
#include "agent/hooks/hook_targets.h"
#include "agent/hooks/site_table.h"
#include "agent/hot/memory/hook_sites.h"

namespace jtrace::hooks {

// One that stands, or stood, in a function.
struct Placed {
  uint32_t placement = 0;  // HookDuty.placement
  uint32_t site = 0;       // HookSite.number
  uintptr_t address = 0;
  std::string name;     // "libc.so.6!malloc"
  std::string symbol;   // mangled, with its object too
  std::string pattern;  // what asked for it
  HookKind kind = HookKind::kCount;
  // Of the site, when it was put in.
  uint64_t calls_before = 0;
  uint64_t unattributed_before = 0;
};

// Made once, never freed, like its sites. Any thread but handlers; one mutex, which is held while
// code is written, and never by who could be waited for at a safepoint.
class Hooks {
 public:
  explicit Hooks(Losses& losses) : losses_(losses) {}
  Hooks(const Hooks&) = delete;
  Hooks& operator=(const Hooks&) = delete;

  // A recording begins: its hooks are put in. Objects that are not loaded yet are looked for from
  // then on. What fails becomes a loss.
  void Begin(const std::vector<HookSpec>& specs);
  // While it runs: the specs in their order, up to the first that fails. Returns what was done, for
  // people.
  absl::StatusOr<std::string> Apply(const std::vector<HookSpec>& specs);
  // The hooks that stand, with their calls so far, for people.
  std::string Describe() const;
  // No int3 is left. Threads may still be in the handler.
  void End();

  // Those that stand now.
  std::vector<Placed> All() const;
  // All that were put in since there had been `before` of them, in any recording: those of
  // recordings before the last one are forgotten. A hook is among them before its first call.
  std::vector<Placed> PlacedSince(uint64_t before) const;
  uint64_t placed_so_far() const;
  // Calls so far of a site, and those of them that no thread's table has.
  struct Calls {
    uint64_t calls = 0;
    uint64_t unattributed = 0;
  };
  Calls CallsOf(uint32_t site) const;

  // Hooks in objects that may have been loaded meanwhile. Cheap if none was. Any thread, one in an
  // object's constructor too: it waits for the mutex no longer than others for the loader's lock.
  void LookForObjects();
  bool has_pending() const;

  // Writer thread. Puts a site where calls of timed functions return to, once for each address.
  void AwaitReturns(uintptr_t address);
  // Traps are ours as long as hooks stand. Each poll.
  void KeepHandler();
  // LookForObjects, and whether int3 has become a danger: a thread that blocks SIGTRAP, another
  // handler for it. Once a second; many threads are looked at more rarely.
  void Watch();

 private:
  absl::Status Place(const HookSpec& spec, const Target& target);
  absl::Status Remove(const HookSpec& spec);
  absl::StatusOr<std::string> Change(const HookSpec& spec);
  absl::StatusOr<size_t> ApplyOne(const HookSpec& spec, const std::vector<LoadedObject>& objects);
  absl::Status PutIn(hot::HookSite& site, Placed placed, bool is_entry);
  void TakeOut(const Placed& placed);
  void RemoveAll();
  absl::Status PutReturn(uintptr_t address);
  void TakeReturnsOut();
  void GuardErrorReport(const std::vector<LoadedObject>& objects);
  absl::Status Ready();
  // Whether int3 is no danger; else no hook is left, and none is waited for.
  bool IsStillSafe();
  void TakeOutFor(const absl::Status& danger);
  void TellUnguarded();
  void TellOtherLibc(const std::vector<Target>& targets);
  void TellFailed(const HookSpec& spec, const absl::Status& status);

  Losses& losses_;
  mutable std::mutex mutex_;  // guards what follows
  SiteTable table_;
  std::map<uintptr_t, Placed> placed_;  // that stand
  std::vector<Placed> log_;             // of this recording, in their order
  uint64_t placed_before_ = 0;          // in earlier recordings
  uint32_t last_placement_ = 0;
  std::vector<HookSpec> pending_;  // of objects that are not loaded yet
  uint64_t objects_seen_ = 0;
  absl::flat_hash_set<uint32_t> returns_;  // sites of use kHookReturn
  std::vector<uint32_t> guards_;           // sites of use kHookEnd
  absl::flat_hash_set<uintptr_t> refused_returns_;
  bool is_recording_ = false;
  uint64_t next_check_ns_ = 0;  // CLOCK_MONOTONIC
  uint64_t fronts_seen_ = 0;    // hot::trap_fronts_taken, of which losses have been made
};

}  // namespace jtrace::hooks
