// Hooks while they are in place: return addresses, newly loaded objects, dangers.
#include <time.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/base/clock.h"
#include "agent/hooks/hook_targets.h"
#include "agent/hooks/hooks.h"
#include "agent/hooks/refusals.h"
#include "agent/hooks/trap_signal.h"
#include "agent/hot/hook_thread.h"
#include "agent/hot/trap_action.h"

namespace jtrace::hooks {

namespace {

// The holder of the mutex may wait for the loader, which may wait for the caller of this.
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

absl::Status Hooks::PutReturn(uintptr_t address) {
  for (const LoadedObject& object : LoadedObjects()) {
    if (!object.HasCodeAt(address)) continue;
    if (absl::Status status = MayAwaitReturnAt(object, address); !status.ok()) return status;
    if (absl::Status status = Pin(object); !status.ok()) return status;
    const auto site = table_.Make(address);
    if (!site.ok()) return site.status();
    hot::HookDuty duty = (*site)->duty.load();
    duty.use |= hot::kHookReturn;  // a hook may be there as well
    if (absl::Status status = table_.SetDuty(**site, duty); !status.ok()) return status;
    returns_.insert((*site)->number);
    return absl::OkStatus();
  }
  return absl::NotFoundError("code of the JIT");
}

// When nothing is timed any more.
void Hooks::TakeReturnsOut() {
  for (const auto& [address, placed] : placed_) {
    if (placed.kind == HookKind::kTime) return;
  }
  for (const uint32_t number : std::exchange(returns_, {})) {
    hot::HookSite& site = table_.site(number);
    hot::HookDuty duty = site.duty.load();
    duty.use &= ~uint32_t{hot::kHookReturn};
    table_.SetDuty(site, duty).IgnoreError();
  }
}

// The report of a crash installs its own handler of SIGTRAP: the code that it calls must not
// contain int3.
void Hooks::GuardErrorReport(const std::vector<LoadedObject>& objects) {
  if (!guards_.empty()) return;
  for (const LoadedObject& object : objects) {
    if (object.name != "libjvm.so") continue;
    for (const Function& function : FindFunctions(object, "VMError::report_and_die")) {
      if (!IsErrorReport(function) || !Pin(object).ok()) continue;
      const auto site = table_.Make(function.address);
      if (!site.ok() || !table_.SetDuty(**site, {hot::kHookEnd, 0}).ok()) continue;
      guards_.push_back((*site)->number);
    }
  }
}

void Hooks::AwaitReturns(uintptr_t address) {
  const std::lock_guard lock(mutex_);
  if (!is_recording_ || PutReturn(address).ok()) return;
  // These calls have no times.
  hot::UntimedReturn(address).store(address);
  if (!refused_returns_.insert(address).second) return;
  losses_.Add("hook.untimed", Severity::kInfo, 1,
              "places that call timed functions, whose returns are not seen: code of the JIT, or "
              "where no hook is allowed");
}

// Checks every thread: takes at most a hundredth of a processor's time.
bool Hooks::IsStillSafe() {
  constexpr uint64_t kShare = 100;
  const uint64_t began = MonotonicNanos();
  const absl::Status status = CheckTraps();
  const uint64_t now = MonotonicNanos();
  next_check_ns_ = now + kShare * (now - began);
  if (status.ok()) return true;
  TakeOutFor(status);
  return false;
}

void Hooks::TakeOutFor(const absl::Status& danger) {
  RemoveAll();
  pending_.clear();
  losses_.Add("hook.danger", Severity::kWarning, 1,
              absl::StrCat("hooks were removed: ", danger.message()));
}

void Hooks::KeepHandler() {
  const std::lock_guard lock(mutex_);
  if (placed_.empty() && returns_.empty()) return;
  if (absl::Status status = hooks::KeepHandler(); !status.ok()) return TakeOutFor(status);
  const uint64_t replaced = hot::trap_fronts_taken.load();
  if (replaced == fronts_seen_) return;
  losses_.Add("hook.handler_replaced", Severity::kWarning,
              replaced - std::exchange(fronts_seen_, replaced),
              "times that another handler of SIGTRAP was found in front of the hooks', which may "
              "have had their traps for up to 0.1 s");
}

void Hooks::Watch() {
  {
    const std::lock_guard lock(mutex_);
    const bool is_due =
        !(placed_.empty() && returns_.empty()) && MonotonicNanos() >= next_check_ns_;
    if (!is_recording_ || (is_due && !IsStillSafe())) return;
  }
  LookForObjects();
}

void Hooks::LookForObjects() {
  const std::unique_lock lock = TryLock(mutex_);
  if (!lock.owns_lock()) return;  // Watch will check
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
    if (!placed.ok()) ReportFailed(spec, placed.status());
    return true;
  });
}

}  // namespace jtrace::hooks
