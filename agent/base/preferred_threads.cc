#include "agent/base/preferred_threads.h"

#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "agent/base/thread_cpu.h"

namespace jtrace {
namespace {

constexpr absl::Duration kPeriod = absl::Milliseconds(500);
// Threads that take less of one processor rest.
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

bool PreferredThreads::Begin(absl::Time now) {
  const absl::MutexLock lock(&mutex_);
  for (pid_t tid : FindThreads(names_)) {
    const std::optional<int> before = NiceOf(tid);
    // One that has more already keeps it. One that a preferred thread made has its value.
    if (!before.has_value() || *before <= kNice) continue;
    if (SetNice(tid, kNice)) nice_before_.insert_or_assign(tid, *before);
  }
  latest_ = now + kLongest;
  checked_ = now;
  used_ = Used();
  return !nice_before_.empty();
}

absl::Time PreferredThreads::Check(absl::Time now) {
  const absl::MutexLock lock(&mutex_);
  if (nice_before_.empty()) return absl::InfiniteFuture();
  // A clock that was set back ends it as well.
  const absl::Duration elapsed = now - checked_;
  if (elapsed >= absl::ZeroDuration() && elapsed < kPeriod) return checked_ + kPeriod;
  const absl::Duration used = Used();
  const bool rest = used - used_ < kRests * elapsed;
  checked_ = now;
  used_ = used;
  if (!rest && now < latest_) return now + kPeriod;
  EndLocked();
  return absl::InfiniteFuture();
}

void PreferredThreads::End() {
  const absl::MutexLock lock(&mutex_);
  EndLocked();
}

// The JVM may have made more compilers meanwhile: a thread inherits the value of the one that makes
// it.
void PreferredThreads::EndLocked() {
  if (nice_before_.empty()) return;
  const int usual = nice_before_.begin()->second;
  for (pid_t tid : FindThreads(names_)) {
    if (NiceOf(tid) != kNice) continue;  // somebody else has changed it
    const auto before = nice_before_.find(tid);
    SetNice(tid, before != nice_before_.end() ? before->second : usual);
  }
  nice_before_.clear();
}

bool PreferredThreads::Work() const {
  return std::ranges::any_of(FindThreads(names_), ThreadIsRunnable);
}

absl::Duration PreferredThreads::Used() const {
  absl::Duration used;
  for (pid_t tid : FindThreads(names_)) used += ThreadCpu(tid).value_or(absl::ZeroDuration());
  return used;
}

}  // namespace jtrace
