#include "agent/metrics/thread_perf_events.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "agent/base/clock.h"
#include "agent/base/perf_event.h"
#include "agent/base/perf_event_table.h"
#include "agent/base/signals_blocked.h"
#include "agent/samples/signals.h"

namespace jtrace::metrics {
namespace {

bool IsUnused(int signal) {
  struct sigaction current;
  return sigaction(signal, nullptr, &current) == 0 && (current.sa_flags & SA_SIGINFO) == 0 &&
         current.sa_handler == SIG_DFL;
}

// Returns whether the descriptor leaves the last quarter of the numbers to the program.
bool HasRoom(int fd) {
  rlimit limit = {};
  getrlimit(RLIMIT_NOFILE, &limit);
  return fd < kMaxDescriptors && static_cast<rlim_t>(fd) < limit.rlim_cur - limit.rlim_cur / 4;
}

std::string WhyNot(const absl::Status& installed) {
  if (!installed.ok()) return std::string(installed.message());
  const int error = PerfEventError();
  return error == 0 ? "this processor or kernel does not count them" : PerfEventRemedy(error);
}

// Waits until no handler runs, about 100 ms at most: a handler's thread may be suspended.
void WaitForHandlers() {
  constexpr int kMaxPauses = 1000;
  constexpr useconds_t kPause = 100;
  for (int i = 0; i < kMaxPauses && !perf_event_handlers.Idle(); ++i) usleep(kPause);
}

// Charges the events since the last signal.
void ChargeRest(ThreadPerfEvent& event) {
  int64_t count = 0;
  const bool has_descriptor = PerfEventOfFd(event.fd).load() == &event;
  if (!has_descriptor || !IsPerfEvent(event.fd)) return;
  if (read(event.fd, &count, sizeof count) != sizeof count) return;
  if (count > event.charged) Charge(event, count - event.charged);
}

}  // namespace

absl::Status ThreadPerfEvents::Install() {
  if (signal_ != 0) return absl::OkStatus();
  // Programs that use real-time signals begin with the first. The JDK takes SIGRTMAX - 2 as soon as
  // it opens a channel or a socket, and asks no one.
  for (int signal = SIGRTMAX - 4; signal > SIGRTMIN; --signal) {
    if (!IsUnused(signal)) continue;
    struct sigaction action {};
    action.sa_sigaction = HandlePerfEventSignal;
    action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;  // Go's threads have small stacks
    // Faults and the int3 of a hook must not be blocked.
    sigfillset(&action.sa_mask);
    for (const int other : {SIGSEGV, SIGBUS, SIGTRAP}) sigdelset(&action.sa_mask, other);
    if (sigaction(signal, &action, nullptr) != 0) break;
    signal_ = signal;
    samples::BlockWhileSampling(signal);
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError("no real-time signal is free");
}

absl::StatusOr<ThreadPerfEvent*> ThreadPerfEvents::Open(pid_t tid, const MetricPerfEvent& event) {
  const auto timer = OpenPerfEvent({tid, *FindPerfEvent(event.name), event.period, signal_});
  if (!timer.ok()) return timer.status();
  if (timer->kernel_ring != nullptr) UnmapPerfRing(timer->kernel_ring);
  if (!HasRoom(timer->fd)) {
    ClosePerfEvent(timer->fd);
    return absl::ResourceExhaustedError("descriptors");
  }
  ThreadPerfEvent* const count = Unused();
  *count = {.fd = timer->fd,
            .os_tid = tid,
            .metric = static_cast<uint32_t>(event.metric),
            .period = static_cast<int64_t>(event.period)};
  PerfEventOfFd(count->fd).store(count, std::memory_order_seq_cst);
  return count;
}

// The events in closed_ have left the table. So once no handler runs, none can have found them, and
// their memory can be used again (InFlight).
ThreadPerfEvent* ThreadPerfEvents::Unused() {
  if (perf_event_handlers.Idle()) {
    unused_.insert(unused_.end(), closed_.begin(), closed_.end());
    closed_.clear();
  }
  if (unused_.empty()) return new ThreadPerfEvent;
  ThreadPerfEvent* const count = unused_.back();
  unused_.pop_back();
  return count;
}

// If the program closed a descriptor, its number may belong to another thread's event by now.
void ThreadPerfEvents::Unpublish(const Events& events) {
  for (ThreadPerfEvent* const event : events) {
    ThreadPerfEvent* owner = event;
    if (!PerfEventOfFd(event->fd).compare_exchange_strong(owner, nullptr)) event->fd = -1;
  }
}

void ThreadPerfEvents::Close(Events& events) {
  for (ThreadPerfEvent* const event : events) {
    if (event->fd >= 0) ClosePerfEvent(event->fd);
    closed_.push_back(event);
  }
  events.clear();
}

uint64_t ThreadPerfEvents::Start(uint64_t wanted, std::string& refused) {
  uint64_t available = 0;
  for (const MetricPerfEvent& event : kMetricPerfEvents) {
    if ((wanted & Bit(event.metric)) == 0) continue;
    const absl::Status installed = Install();
    const auto timer =
        OpenPerfEvent({gettid(), *FindPerfEvent(event.name), event.period, /*signal=*/0});
    if (timer.ok()) {
      ClosePerfEvent(timer->fd);
      if (timer->kernel_ring != nullptr) UnmapPerfRing(timer->kernel_ring);
    }
    if (installed.ok() && timer.ok()) {
      available |= Bit(event.metric);
      continue;
    }
    absl::StrAppend(&refused, refused.empty() ? "" : ", ", std::string(event.name), ": ",
                    WhyNot(installed));
  }
  started_.store(available, std::memory_order_release);
  unattached_.store(0, std::memory_order_relaxed);
  return available;
}

void ThreadPerfEvents::Stop() {
  started_.store(0, std::memory_order_release);
  const std::lock_guard lock(mutex_);
  for (const auto& [tid, events] : by_thread_) Unpublish(events);
  // A handler that has found its event starts it again: its descriptor must not be reused before.
  WaitForHandlers();
  for (auto& [tid, events] : by_thread_) Close(events);
  by_thread_.clear();
}

ThreadPerfEvents::~ThreadPerfEvents() {
  Stop();
  for (const Events* const events : {&closed_, &unused_}) {
    for (const ThreadPerfEvent* const event : *events) delete event;
  }
}

void ThreadPerfEvents::StartFor(pid_t tid) {
  const uint64_t metrics = started_.load(std::memory_order_acquire);
  if (metrics == 0) return;  // stopped meanwhile
  Events events;
  for (const MetricPerfEvent& event : kMetricPerfEvents) {
    if ((metrics & Bit(event.metric)) == 0) continue;
    const absl::StatusOr<ThreadPerfEvent*> count = Open(tid, event);
    if (count.ok()) {
      events.push_back(*count);
    } else if (!absl::IsNotFound(count.status())) {  // it has ended
      unattached_.fetch_add(1, std::memory_order_relaxed);
    }
  }
  for (const ThreadPerfEvent* const event : events) {
    signal_safe::StartPerfEvent(event->fd, signal_safe::PerfStopMode::kByKernel);
  }
  // A thread that has ended leaves no entry: its id may be another one's next.
  if (!events.empty()) by_thread_[tid] = std::move(events);
}

void ThreadPerfEvents::Attach(pid_t tid) {
  if (is_empty()) return;
  const std::lock_guard lock(mutex_);
  if (!by_thread_.contains(tid)) StartFor(tid);
}

void ThreadPerfEvents::Detach() {
  if (is_empty()) return;
  const SignalBlocked blocked(signal_);
  const std::lock_guard lock(mutex_);
  const auto own = by_thread_.find(gettid());
  if (own == by_thread_.end()) return;
  for (ThreadPerfEvent* const event : own->second) ChargeRest(*event);
  Unpublish(own->second);
  Close(own->second);
  by_thread_.erase(own);
}

}  // namespace jtrace::metrics
