#include "agent/base/thread_priority_boost.h"

#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include "agent/base/thread_cpu.h"

namespace jtrace {
namespace {

constexpr absl::Duration kPeriod = absl::Milliseconds(500);
// Threads that together take a smaller share of one processor than this are at rest.
constexpr double kRests = 0.25;

std::optional<int> NiceOf(pid_t tid) {
  errno = 0;
  const int nice = getpriority(PRIO_PROCESS, static_cast<id_t>(tid));
  if (nice == -1 && errno != 0) return std::nullopt;
  return nice;
}

bool SetNice(pid_t tid, int nice) {
  return setpriority(PRIO_PROCESS, static_cast<id_t>(tid), nice) == 0;
}

}  // namespace

void ThreadPriorityBoost::Refresh() {
  std::vector<pid_t> found = FindThreads(names_);
  const absl::MutexLock lock(&mutex_);
  threads_ = std::move(found);
}

bool ThreadPriorityBoost::Begin(absl::Time now) {
  Refresh();
  const absl::MutexLock lock(&mutex_);
  const bool is_first = nice_before_.empty();
  for (pid_t tid : threads_) {
    const std::optional<int> before = NiceOf(tid);
    if (!before.has_value()) continue;
    // At a later Begin, a thread that a preferred thread has created has the value, too.
    const bool had_it = *before <= kNice && is_first;
    if (had_it || (*before > kNice && SetNice(tid, kNice))) {
      nice_before_.insert_or_assign(tid, *before);
    }
  }
  latest_ = now + kMaxPriorityTime;
  checked_ = now;
  used_ = CpuTimeLocked();
  return !nice_before_.empty();
}

absl::Time ThreadPriorityBoost::EndIfIdle(absl::Time now) {
  const absl::MutexLock lock(&mutex_);
  if (nice_before_.empty()) return absl::InfiniteFuture();
  const absl::Duration elapsed = now - checked_;
  const bool was_set_back = elapsed < absl::ZeroDuration();
  if (!was_set_back && elapsed < kPeriod) return checked_ + kPeriod;
  const absl::Duration used = CpuTimeLocked();
  const bool rest = was_set_back || used - used_ < kRests * elapsed;
  checked_ = now;
  used_ = used;
  if (!rest && now < latest_) return now + kPeriod;
  EndLocked();
  return absl::InfiniteFuture();
}

void ThreadPriorityBoost::End() {
  const absl::MutexLock lock(&mutex_);
  EndLocked();
}

// Finds the threads again: a compiler thread that another one has created meanwhile has inherited
// the nice value.
void ThreadPriorityBoost::EndLocked() {
  if (nice_before_.empty()) return;
  int usual = kNice;
  for (const auto& [tid, nice] : nice_before_) usual = std::max(usual, nice);
  for (pid_t tid : FindThreads(names_)) {
    if (NiceOf(tid) != kNice) continue;  // somebody else has changed it
    const auto before = nice_before_.find(tid);
    SetNice(tid, before != nice_before_.end() ? before->second : usual);
  }
  nice_before_.clear();
}

bool ThreadPriorityBoost::AreBusy() const {
  const absl::MutexLock lock(&mutex_);
  return std::ranges::any_of(threads_, ThreadIsRunnable);
}

absl::Duration ThreadPriorityBoost::CpuTime() const {
  const absl::MutexLock lock(&mutex_);
  return CpuTimeLocked();
}

absl::Duration ThreadPriorityBoost::CpuTimeLocked() const {
  absl::Duration used;
  for (pid_t tid : threads_) used += ThreadCpu(tid).value_or(absl::ZeroDuration());
  return used;
}

}  // namespace jtrace
