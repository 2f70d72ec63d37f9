#include "agent/native_hooks/hooks.h"

#include <gnu/libc-version.h>
#include <time.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "agent/base/clock.h"
#include "agent/native_hooks/hook_handler.h"
#include "agent/native_hooks/hook_targets.h"
#include "agent/native_hooks/hook_thread.h"
#include "agent/native_hooks/refusals.h"
#include "agent/native_hooks/trap_action.h"
#include "agent/native_hooks/trap_signal.h"
#include "common/glob.h"

namespace jtrace::native_hooks {
namespace {

uint32_t ActionsOf(HookKind kind) {
  switch (kind) {
    case HookKind::kCount:
      return signal_safe::kHookCount;
    case HookKind::kUnwind:
      return signal_safe::kHookCount | signal_safe::kHookUnwind;
    case HookKind::kTime:
      return signal_safe::kHookCount | signal_safe::kHookTime;
    case HookKind::kOff:
      break;
  }
  return 0;
}

// Tries for 0.1 s: the mutex's holder may wait for the loader's lock, which the caller may hold.
std::unique_lock<std::mutex> TryLock(std::mutex& mutex) {
  constexpr int kTries = 100;
  constexpr timespec kMoment = {0, 1'000'000};
  std::unique_lock lock(mutex, std::try_to_lock);
  for (int i = 0; i < kTries && !lock.owns_lock(); ++i) {
    nanosleep(&kMoment, nullptr);
    if (lock.try_lock()) break;
  }
  return lock;
}

}  // namespace

absl::Status Hooks::Place(const HookSpec& spec, const Target& target) {
  const Function& function = target.function;
  if (absl::Status status = MayHook(target.object, function); !status.ok()) return status;
  const auto standing = placed_.find(function.address);
  if (standing != placed_.end() && standing->second.kind == spec.kind) return absl::OkStatus();
  // Before the code is read: from here on it cannot be unloaded.
  absl::Status status = Pin(target.object);
  absl::StatusOr<signal_safe::PatchSite*> site = nullptr;
  if (status.ok()) status = (site = table_.Make(function.address)).status();
  if (status.ok()) {
    PlacedHook placed;
    placed.address = function.address;
    placed.name = absl::StrCat(target.object.name, "!", function.name);
    placed.symbol = absl::StrCat(target.object.name, "!", function.symbol);
    placed.pattern = HookSpecText(spec);
    placed.kind = spec.kind;
    status = PlaceAt(**site, std::move(placed), function.is_entry);
  }
  if (status.ok()) return status;
  return absl::Status(status.code(), absl::StrCat("no hook in ", target.object.name, "!",
                                                  function.name, ": ", status.message()));
}

absl::Status Hooks::PlaceAt(signal_safe::PatchSite& site, PlacedHook placed, bool is_entry) {
  placed.placement = ++last_placement_;
  placed.site = site.number;
  placed.calls_before = site.calls.load();
  placed.unattributed_before = site.unattributed.load();
  uint32_t actions = ActionsOf(placed.kind);
  if (is_entry) actions |= signal_safe::kHookEntry;
  if (returns_.contains(site.number)) actions |= signal_safe::kHookReturn;
  placements_.push_back(placed);
  if (absl::Status status = table_.SetBinding(site, {actions, placed.placement}); !status.ok()) {
    placements_.pop_back();
    return status;
  }
  placed_[placed.address] = std::move(placed);
  return absl::OkStatus();
}

void Hooks::Remove(const PlacedHook& placed) {
  const bool is_return = returns_.contains(placed.site);
  table_.SetBinding(table_.site(placed.site), {is_return ? signal_safe::kHookReturn : 0u, 0})
      .IgnoreError();
}

// Compares names of placed hooks, too: the functions of a deleted file may no longer be found.
absl::Status Hooks::Remove(const HookSpec& spec) {
  const std::string pattern = absl::StrCat(spec.object, "!", spec.symbol);
  const auto targets = ResolveHook(spec, LoadedDsos());
  const auto is_meant = [&](const PlacedHook& placed) {
    if (GlobMatches(pattern, placed.name) || GlobMatches(pattern, placed.symbol)) return true;
    return targets.ok() && std::any_of(targets->begin(), targets->end(), [&](const Target& it) {
             return it.function.address == placed.address;
           });
  };
  size_t removed = std::erase_if(placed_, [&](const auto& entry) {
    if (!is_meant(entry.second)) return false;
    Remove(entry.second);
    return true;
  });
  removed += std::erase_if(pending_, [&](const HookSpec& waiting) {
    return GlobMatches(pattern, absl::StrCat(waiting.object, "!", waiting.symbol));
  });
  RemoveReturnHooks();
  if (removed != 0) return absl::OkStatus();
  if (absl::IsNotFound(targets.status())) return targets.status();
  return absl::NotFoundError(
      absl::StrCat("there is no hook in ", pattern, "; jtrace hook PID lists them"));
}

// Places all hooks of one spec. Returns how many functions have one now.
absl::StatusOr<size_t> Hooks::ApplyOne(const HookSpec& spec,
                                       const std::vector<LoadedDso>& objects) {
  const auto targets = ResolveHook(spec, objects);
  if (!targets.ok()) return targets.status();
  size_t placed = 0;
  absl::Status first;
  for (const Target& target : *targets) {
    const absl::Status status = Place(spec, target);
    if (status.ok()) {
      ++placed;
    } else if (first.ok()) {
      first = status;
    }
  }
  if (placed == 0) return first;
  ReportOtherLibc(*targets);
  ReportUnguarded();
  HookErrorReport(objects);
  RemoveReturnHooks();  // kTime may have become kCount
  if (placed < targets->size()) {
    losses_.Add("hook.refused", Severity::kWarning, targets->size() - placed,
                absl::StrCat("functions of ", spec.object, "!", spec.symbol,
                             " that got no hook; the first: ", first.message()));
  }
  return placed;
}

// The functions that libc calls with all signals blocked are known for one version (refusals.cc).
void Hooks::ReportOtherLibc(const std::vector<Target>& targets) {
  constexpr absl::string_view kKnown = "2.36";
  const absl::string_view version = gnu_get_libc_version();
  const bool is_libc = std::any_of(targets.begin(), targets.end(), [](const Target& target) {
    return target.object.name == "libc.so.6";
  });
  if (!is_libc || version == kKnown) return;
  losses_.Set("hook.other_libc", Severity::kInfo, 1,
              absl::StrCat("hooks in glibc ", version,
                           ": which of its functions it calls with all "
                           "signals blocked is known only for ",
                           kKnown),
              "try them on a copy of the program first");
}

void Hooks::ReportUnguarded() {
  const absl::Status guard = InterceptSigaction();
  if (guard.ok()) return;
  losses_.Set("hook.unguarded", Severity::kInfo, 1,
              absl::StrCat("hooks without a guard (", guard.message(),
                           "): a handler of SIGTRAP that the program installs while they are in "
                           "place gets their traps for up to 0.1 s, which may end it"),
              "do not use hooks in a program that does so");
}

void Hooks::ReportFailed(const HookSpec& spec, const absl::Status& status) {
  losses_.Add(absl::StrCat("hook.failed.", spec.object, "!", spec.symbol), Severity::kWarning, 1,
              absl::StrCat("hook that could not be placed: ", status.message()));
}

// Handlers that were in front of ours while there were no hooks had no traps: that is not a loss.
absl::Status Hooks::PrepareHandler() {
  absl::Status status = PrepareTrapHandler();
  if (placed_.empty()) reported_replacements_ = trap_handler_replacements.load();
  return status;
}

void Hooks::Begin(const std::vector<HookSpec>& specs) {
  const std::lock_guard lock(mutex_);
  is_recording_ = true;
  placed_before_ += placements_.size();
  placements_.clear();
  pending_.clear();
  objects_seen_ = 0;
  refused_returns_.clear();
  for (auto& address : untimed_returns) address.store(0);
  if (specs.empty()) return;
  const absl::Status ready = PrepareHandler();
  const std::vector<LoadedDso> objects = LoadedDsos();
  for (const HookSpec& spec : specs) {
    const auto placed = ready.ok() ? ApplyOne(spec, objects) : absl::StatusOr<size_t>(ready);
    if (absl::IsUnavailable(placed.status())) {
      pending_.push_back(spec);
    } else if (!placed.ok()) {
      ReportFailed(spec, placed.status());
    }
  }
}

absl::StatusOr<std::string> Hooks::Change(const HookSpec& spec) {
  const std::string place = absl::StrCat(spec.object, "!", spec.symbol);
  if (spec.kind == HookKind::kOff) {
    if (absl::Status status = Remove(spec); !status.ok()) return status;
    return absl::StrCat("no hook any more in ", place);
  }
  if (absl::Status status = PrepareHandler(); !status.ok()) return status;
  const std::vector<LoadedDso> objects = LoadedDsos();
  const auto placed = ApplyOne(spec, objects);
  if (absl::IsUnavailable(placed.status())) {
    return absl::NotFoundError(absl::StrCat(placed.status().message(), "; the nearest is '",
                                            NearestObject(objects, spec.object), "'"));
  }
  if (!placed.ok()) return placed.status();
  return absl::StrCat(HookKindName(spec.kind), " in ", *placed,
                      *placed == 1 ? " function: " : " functions: ", place);
}

absl::StatusOr<std::string> Hooks::Apply(const std::vector<HookSpec>& specs) {
  if (!kHasHooks) return absl::UnimplementedError("hooks need x86-64");
  const std::lock_guard lock(mutex_);
  if (!is_recording_) {
    return absl::FailedPreconditionError("no recording runs; begin one with start");
  }
  std::vector<std::string> lines;
  for (const HookSpec& spec : specs) {
    const auto line = Change(spec);
    if (line.ok()) {
      lines.push_back(*line);
    } else if (lines.empty()) {
      return line.status();
    } else {
      return absl::Status(
          line.status().code(),
          absl::StrCat(line.status().message(), "; done before it: ", absl::StrJoin(lines, ", ")));
    }
  }
  return absl::StrJoin(lines, "\n");
}

std::string Hooks::Describe() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> lines;
  for (const auto& [address, placed] : placed_) {
    lines.push_back(absl::StrFormat("%-7s %12d calls  %s", std::string(HookKindName(placed.kind)),
                                    table_.site(placed.site).calls.load() - placed.calls_before,
                                    placed.name));
  }
  for (const HookSpec& spec : pending_) {
    lines.push_back(absl::StrFormat("%-7s %18s  %s!%s", std::string(HookKindName(spec.kind)),
                                    "not loaded yet", spec.object, spec.symbol));
  }
  if (!lines.empty()) return absl::StrJoin(lines, "\n");
  return "no hooks; put one in with jtrace hook PID 'libc.so.6!malloc:count'";
}

void Hooks::RemoveAll() {
  for (const auto& [address, placed] : placed_) Remove(placed);
  placed_.clear();
  RemoveReturnHooks();
  for (const uint32_t site : error_report_sites_)
    table_.SetBinding(table_.site(site), {}).IgnoreError();
  error_report_sites_.clear();
}

void Hooks::End() {
  const std::lock_guard lock(mutex_);
  if (!is_recording_) return;
  is_recording_ = false;
  for (const HookSpec& spec : pending_) {
    losses_.Add(absl::StrCat("hook.not_loaded.", spec.object), Severity::kWarning, 1,
                absl::StrCat("hook in ", spec.object, ", which was never loaded"));
  }
  RemoveAll();
  pending_.clear();
}

std::vector<PlacedHook> Hooks::All() const {
  const std::lock_guard lock(mutex_);
  std::vector<PlacedHook> all;
  for (const auto& [address, placed] : placed_) all.push_back(placed);
  return all;
}

std::vector<PlacedHook> Hooks::PlacedSince(uint64_t before) const {
  const std::lock_guard lock(mutex_);
  const uint64_t known = before < placed_before_ ? 0 : before - placed_before_;
  if (known >= placements_.size()) return {};
  return {placements_.begin() + static_cast<ptrdiff_t>(known), placements_.end()};
}

uint64_t Hooks::placed_so_far() const {
  const std::lock_guard lock(mutex_);
  return placed_before_ + placements_.size();
}

Hooks::Calls Hooks::CallsOf(uint32_t site) const {
  const std::lock_guard lock(mutex_);
  const signal_safe::PatchSite& it = table_.site(site);
  return {it.calls.load(), it.unattributed.load()};
}

bool Hooks::has_pending() const {
  const std::lock_guard lock(mutex_);
  return !pending_.empty();
}

absl::Status Hooks::PlaceReturn(uintptr_t address) {
  for (const LoadedDso& object : LoadedDsos()) {
    if (!object.HasCodeAt(address)) continue;
    if (absl::Status status = MayAwaitReturnAt(object, address); !status.ok()) return status;
    if (absl::Status status = Pin(object); !status.ok()) return status;
    const auto site = table_.Make(address);
    if (!site.ok()) return site.status();
    signal_safe::SiteBinding binding = (*site)->binding.load();
    binding.actions |= signal_safe::kHookReturn;  // a hook may be there as well
    if (absl::Status status = table_.SetBinding(**site, binding); !status.ok()) return status;
    returns_.insert((*site)->number);
    return absl::OkStatus();
  }
  return absl::NotFoundError("code of the JIT");
}

// Removes the int3 at return addresses if no hook is of kind kTime any more.
void Hooks::RemoveReturnHooks() {
  for (const auto& [address, placed] : placed_) {
    if (placed.kind == HookKind::kTime) return;
  }
  for (const uint32_t number : std::exchange(returns_, {})) {
    signal_safe::PatchSite& site = table_.site(number);
    signal_safe::SiteBinding binding = site.binding.load();
    binding.actions &= ~uint32_t{signal_safe::kHookReturn};
    table_.SetBinding(site, binding).IgnoreError();
  }
}

// Hooks the JVM's report of a crash, so that every int3 is removed when it begins: it installs its
// own handler of SIGTRAP, which would get the traps.
void Hooks::HookErrorReport(const std::vector<LoadedDso>& objects) {
  if (!error_report_sites_.empty()) return;
  for (const LoadedDso& object : objects) {
    if (object.name != "libjvm.so") continue;
    for (const Function& function : FindFunctions(object, "VMError::report_and_die")) {
      if (!IsErrorReport(function) || !Pin(object).ok()) continue;
      const auto site = table_.Make(function.address);
      if (!site.ok() || !table_.SetBinding(**site, {signal_safe::kHookRemoveAll, 0}).ok()) continue;
      error_report_sites_.push_back((*site)->number);
    }
  }
}

void Hooks::PlaceReturnSite(uintptr_t address) {
  const std::lock_guard lock(mutex_);
  if (!is_recording_ || PlaceReturn(address).ok()) return;
  // The handler requests this address no more; its calls have no times.
  UntimedReturn(address).store(address);
  if (!refused_returns_.insert(address).second) return;
  losses_.Add("hook.untimed", Severity::kInfo, 1,
              "places that call timed functions, whose returns are not seen: code of the JIT, or "
              "where no hook is allowed");
}

// Checks every thread. Uses at most a hundredth of a processor: sets when the next check is due.
bool Hooks::IsStillSafe() {
  constexpr uint64_t kShare = 100;
  const uint64_t began = MonotonicNanos();
  const absl::Status status = CheckTraps();
  const uint64_t now = MonotonicNanos();
  next_check_ns_ = now + kShare * (now - began);
  if (status.ok()) return true;
  RemoveAllBecause(status);
  return false;
}

void Hooks::RemoveAllBecause(const absl::Status& danger) {
  RemoveAll();
  pending_.clear();
  losses_.Add("hook.danger", Severity::kWarning, 1,
              absl::StrCat("hooks were removed: ", danger.message()));
}

void Hooks::EnsureTrapHandler() {
  const std::lock_guard lock(mutex_);
  if (placed_.empty() && returns_.empty()) return;
  if (absl::Status status = native_hooks::EnsureTrapHandler(); !status.ok()) {
    return RemoveAllBecause(status);
  }
  const uint64_t replaced = trap_handler_replacements.load();
  if (replaced == reported_replacements_) return;
  losses_.Add("hook.handler_replaced", Severity::kWarning,
              replaced - std::exchange(reported_replacements_, replaced),
              "times that another handler of SIGTRAP was found in front of the hooks', which may "
              "have had their traps for up to 0.1 s");
}

void Hooks::RefreshHooks() {
  {
    const std::lock_guard lock(mutex_);
    const bool is_due =
        !(placed_.empty() && returns_.empty()) && MonotonicNanos() >= next_check_ns_;
    if (!is_recording_ || (is_due && !IsStillSafe())) return;
  }
  SearchObjects();
}

void Hooks::SearchObjects() {
  const std::unique_lock lock = TryLock(mutex_);
  if (!lock.owns_lock()) return;  // RefreshHooks tries again
  if (!is_recording_ || pending_.empty()) return;
  const uint64_t loaded = ObjectsLoadedSoFar();
  if (loaded == std::exchange(objects_seen_, loaded)) return;
  const std::vector<LoadedDso> objects = LoadedDsos();
  const bool has_come = std::any_of(pending_.begin(), pending_.end(), [&](const HookSpec& spec) {
    return !absl::IsUnavailable(ResolveHook(spec, objects).status());
  });
  if (!has_come || !IsStillSafe()) return;
  std::erase_if(pending_, [&](const HookSpec& spec) {
    const auto placed = ApplyOne(spec, objects);
    if (absl::IsUnavailable(placed.status())) return false;
    if (!placed.ok()) ReportFailed(spec, placed.status());
    return true;
  });
}

}  // namespace jtrace::native_hooks
