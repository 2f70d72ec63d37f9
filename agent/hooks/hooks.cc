#include "agent/hooks/hooks.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "agent/hooks/hook_targets.h"
#include "agent/hooks/refusals.h"
#include "agent/hooks/trap_signal.h"
#include "agent/hot/clock.h"
#include "agent/hot/hook_thread.h"

namespace jtrace::hooks {
namespace {

uint32_t UseOf(HookKind kind) {
  switch (kind) {
    case HookKind::kCount:
      return hot::kHookCount;
    case HookKind::kUnwind:
      return hot::kHookCount | hot::kHookUnwind;
    case HookKind::kTime:
      return hot::kHookCount | hot::kHookTime;
    case HookKind::kOff:
      break;
  }
  return 0;
}

}  // namespace

absl::Status Hooks::Place(const HookSpec& spec, const Target& target) {
  const Function& function = target.function;
  if (absl::Status status = MayHook(target.object, function); !status.ok()) return status;
  const auto standing = placed_.find(function.address);
  if (standing != placed_.end() && standing->second.kind == spec.kind) return absl::OkStatus();
  // The code cannot go any more when it is read.
  absl::Status status = Pin(target.object);
  absl::StatusOr<hot::HookSite*> site = nullptr;
  if (status.ok()) status = (site = table_.Make(function.address)).status();
  if (status.ok()) {
    Placed placed;
    placed.address = function.address;
    placed.name = absl::StrCat(target.object.name, "!", function.name);
    placed.pattern = HookSpecText(spec);
    placed.kind = spec.kind;
    status = PutIn(**site, std::move(placed), function.is_entry);
  }
  if (status.ok()) return status;
  return absl::Status(status.code(), absl::StrCat("no hook in ", target.object.name, "!",
                                                  function.name, ": ", status.message()));
}

absl::Status Hooks::PutIn(hot::HookSite& site, Placed placed, bool is_entry) {
  placed.placement = ++last_placement_;
  placed.site = site.number;
  placed.calls_before = site.calls.load();
  placed.unattributed_before = site.unattributed.load();
  uint32_t use = UseOf(placed.kind);
  if (is_entry) use |= hot::kHookEntry;
  if (returns_.contains(site.number)) use |= hot::kHookReturn;
  log_.push_back(placed);
  if (absl::Status status = table_.SetDuty(site, {use, placed.placement}); !status.ok()) {
    log_.pop_back();
    return status;
  }
  placed_[placed.address] = std::move(placed);
  return absl::OkStatus();
}

void Hooks::TakeOut(const Placed& placed) {
  const bool is_return = returns_.contains(placed.site);
  table_.SetDuty(table_.site(placed.site), {is_return ? hot::kHookReturn : 0u, 0}).IgnoreError();
}

absl::Status Hooks::Remove(const HookSpec& spec) {
  const auto targets = ResolveHook(spec, LoadedObjects());
  if (!targets.ok()) return targets.status();
  size_t removed = 0;
  for (const Target& target : *targets) {
    const auto placed = placed_.find(target.function.address);
    if (placed == placed_.end()) continue;
    TakeOut(placed->second);
    placed_.erase(placed);
    ++removed;
  }
  if (removed != 0) return absl::OkStatus();
  return absl::NotFoundError(absl::StrCat("no hook stands in ", spec.object, "!", spec.symbol,
                                          "; jtrace hook PID lists them"));
}

// All of one spec. Returns how many functions have one now.
absl::StatusOr<size_t> Hooks::ApplyOne(const HookSpec& spec,
                                       const std::vector<LoadedObject>& objects) {
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
  if (placed < targets->size()) {
    losses_.Add("hook.refused", Severity::kWarning, targets->size() - placed,
                absl::StrCat("functions of ", spec.object, "!", spec.symbol,
                             " that got no hook; the first: ", first.message()));
  }
  return placed;
}

void Hooks::TellFailed(const HookSpec& spec, const absl::Status& status) {
  losses_.Add(absl::StrCat("hook.failed.", spec.object, "!", spec.symbol), Severity::kWarning, 1,
              absl::StrCat("hook that is not there: ", status.message()));
}

void Hooks::Begin(const std::vector<HookSpec>& specs) {
  const std::lock_guard lock(mutex_);
  is_recording_ = true;
  placed_before_ += log_.size();
  log_.clear();
  pending_.clear();
  objects_seen_ = 0;
  refused_returns_.clear();
  for (auto& address : hot::untimed_returns) address.store(0);
  if (specs.empty()) return;
  absl::Status ready = ReadyTraps();
  const std::vector<LoadedObject> objects = LoadedObjects();
  for (const HookSpec& spec : specs) {
    const auto placed = ready.ok() ? ApplyOne(spec, objects) : absl::StatusOr<size_t>(ready);
    if (absl::IsUnavailable(placed.status())) {
      pending_.push_back(spec);
    } else if (!placed.ok()) {
      TellFailed(spec, placed.status());
    }
  }
}

absl::StatusOr<std::string> Hooks::Apply(const std::vector<HookSpec>& specs) {
  const std::lock_guard lock(mutex_);
  if (!is_recording_)
    return absl::FailedPreconditionError("no recording runs; begin one with start");
  const std::vector<LoadedObject> objects = LoadedObjects();
  std::vector<std::string> lines;
  for (const HookSpec& spec : specs) {
    if (spec.kind == HookKind::kOff) {
      if (absl::Status status = Remove(spec); !status.ok()) return status;
      lines.push_back(absl::StrCat("no hook any more in ", spec.object, "!", spec.symbol));
      continue;
    }
    if (absl::Status status = ReadyTraps(); !status.ok()) return status;
    const auto placed = ApplyOne(spec, objects);
    if (absl::IsUnavailable(placed.status())) {
      return absl::NotFoundError(absl::StrCat(placed.status().message(), "; the nearest is '",
                                              NearestObject(objects, spec.object), "'"));
    }
    if (!placed.ok()) return placed.status();
    lines.push_back(absl::StrCat(HookKindName(spec.kind), " in ", *placed,
                                 *placed == 1 ? " function: " : " functions: ", spec.object, "!",
                                 spec.symbol));
  }
  return absl::StrJoin(lines, "\n");
}

std::string Hooks::Describe() const {
  const std::lock_guard lock(mutex_);
  if (placed_.empty()) return "no hooks; put one in with jtrace hook PID 'libc.so.6!malloc:count'";
  std::vector<std::string> lines;
  for (const auto& [address, placed] : placed_) {
    lines.push_back(absl::StrFormat("%-7s %12d calls  %s", std::string(HookKindName(placed.kind)),
                                    table_.site(placed.site).calls.load() - placed.calls_before,
                                    placed.name));
  }
  return absl::StrJoin(lines, "\n");
}

void Hooks::RemoveAll() {
  const auto returns = std::exchange(returns_, {});
  for (const auto& [address, placed] : placed_) TakeOut(placed);
  for (const uint32_t number : returns) table_.SetDuty(table_.site(number), {}).IgnoreError();
  placed_.clear();
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

std::vector<Placed> Hooks::All() const {
  const std::lock_guard lock(mutex_);
  std::vector<Placed> all;
  for (const auto& [address, placed] : placed_) all.push_back(placed);
  return all;
}

std::vector<Placed> Hooks::PlacedSince(uint64_t before) const {
  const std::lock_guard lock(mutex_);
  const uint64_t known = before < placed_before_ ? 0 : before - placed_before_;
  if (known >= log_.size()) return {};
  return {log_.begin() + static_cast<ptrdiff_t>(known), log_.end()};
}

uint64_t Hooks::placed_so_far() const {
  const std::lock_guard lock(mutex_);
  return placed_before_ + log_.size();
}

Hooks::Calls Hooks::CallsOf(uint32_t site) const {
  const std::lock_guard lock(mutex_);
  const hot::HookSite& it = table_.site(site);
  return {it.calls.load(), it.unattributed.load()};
}

absl::Status Hooks::PutReturn(uintptr_t address) {
  for (const LoadedObject& object : LoadedObjects()) {
    if (!object.HasCodeAt(address)) continue;
    // Of libjvm's functions only leaves are refused.
    Function caller;
    caller.address = address;
    if (absl::StartsWith(object.name, "libc.")) caller = FunctionAt(object, address - 1);
    if (absl::Status status = MayHook(object, caller); !status.ok()) return status;
    if (absl::Status status = Pin(object); !status.ok()) return status;
    const auto site = table_.Make(address);
    if (!site.ok()) return site.status();
    hot::HookDuty duty = (*site)->duty.load();
    duty.use |= hot::kHookReturn;  // a hook may stand there as well
    if (absl::Status status = table_.SetDuty(**site, duty); !status.ok()) return status;
    returns_.insert((*site)->number);
    return absl::OkStatus();
  }
  return absl::NotFoundError("code of the JIT");
}

void Hooks::AwaitReturns(uintptr_t address) {
  const std::lock_guard lock(mutex_);
  if (!is_recording_ || PutReturn(address).ok()) return;
  // These calls have no times.
  hot::UntimedReturn(address).store(address);
  if (!refused_returns_.insert(address).second) return;
  losses_.Add("hook.untimed", Severity::kInfo, 1,
              "places that call timed functions, whose returns are not seen: code of the JIT, or "
              "where no hook may stand");
}

// Every thread is looked at: at most a hundredth of a processor's time.
bool Hooks::IsStillSafe() {
  constexpr uint64_t kShare = 100;
  const uint64_t began = hot::MonotonicNanos();
  const absl::Status status = CheckTraps();
  const uint64_t now = hot::MonotonicNanos();
  next_check_ns_ = now + kShare * (now - began);
  if (status.ok()) return true;
  RemoveAll();
  pending_.clear();
  losses_.Add("hook.danger", Severity::kWarning, 1,
              absl::StrCat("hooks were taken out: ", status.message()));
  return false;
}

void Hooks::Watch() {
  {
    const std::lock_guard lock(mutex_);
    const bool is_due = !placed_.empty() && hot::MonotonicNanos() >= next_check_ns_;
    if (!is_recording_ || (is_due && !IsStillSafe())) return;
  }
  LookForObjects();
}

void Hooks::LookForObjects() {
  const std::lock_guard lock(mutex_);
  if (!is_recording_ || pending_.empty()) return;
  const uint64_t loaded = ObjectsLoadedSoFar();
  if (loaded == std::exchange(objects_seen_, loaded)) return;
  const std::vector<LoadedObject> objects = LoadedObjects();
  const bool has_come = std::any_of(pending_.begin(), pending_.end(), [&](const HookSpec& spec) {
    return !absl::IsUnavailable(ResolveHook(spec, objects).status());
  });
  if (!has_come || !IsStillSafe()) return;
  std::erase_if(pending_, [&](const HookSpec& spec) {
    const auto placed = ApplyOne(spec, objects);
    if (absl::IsUnavailable(placed.status())) return false;
    if (!placed.ok()) TellFailed(spec, placed.status());
    return true;
  });
}

bool Hooks::has_pending() const {
  const std::lock_guard lock(mutex_);
  return !pending_.empty();
}

}  // namespace jtrace::hooks
