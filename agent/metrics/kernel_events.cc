#include "agent/metrics/kernel_events.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "agent/base/signals_blocked.h"
#include "agent/metrics/own_totals.h"
#include "agent/samples/perf_events.h"
#include "agent/samples/signals.h"
#include "agent/samples/timers.h"

namespace jtrace::metrics {
namespace {

// No clocks: the kernel may stop these itself (samples/perf_events.h), and must, because
// real-time signals queue.
//
// A signal at a context switch ends the wait that was to begin: see samples/perf_events.
constexpr std::array kKernelEvents = {
    KernelEvent{Metric::kPathFaults, "page-faults", 1},
    KernelEvent{Metric::kPathSwitches, "context-switches", 4},
    KernelEvent{Metric::kPathCycles, "cycles", 1'000'000},
    KernelEvent{Metric::kPathInstructions, "instructions", 1'000'000},
    KernelEvent{Metric::kPathCacheMisses, "cache-misses", 1000},
};

bool IsUnused(int signal) {
  struct sigaction current;
  return sigaction(signal, nullptr, &current) == 0 && (current.sa_flags & SA_SIGINFO) == 0 &&
         current.sa_handler == SIG_DFL;
}

// As for timers: a quarter of the descriptors.
bool HasRoom(int fd) {
  rlimit limit = {};
  getrlimit(RLIMIT_NOFILE, &limit);
  return fd < kMostDescriptors && static_cast<rlim_t>(fd) < limit.rlim_cur - limit.rlim_cur / 4;
}

std::string WhyNot(const absl::Status& installed) {
  if (!installed.ok()) return std::string(installed.message());
  const int error = samples::PerfEventError();
  return error == 0 ? "this processor or kernel does not count them"
                    : samples::PerfEventRemedy(error);
}

// Charges what no signal has.
void ChargeRest(EventCount& event) {
  int64_t count = 0;
  if (!samples::IsPerfTimer(event.fd)) return;
  if (read(event.fd, &count, sizeof count) != sizeof count) return;
  if (count > event.charged) Charge(event, count - event.charged);
}

// The CPU clock of any thread of this process, as the kernel encodes it (clock_getcpuclockid(3)).
constexpr clockid_t ThreadClock(pid_t os_tid) {
  constexpr int kPerThread = 4;
  constexpr int kScheduler = 2;
  return static_cast<clockid_t>((~static_cast<unsigned>(os_tid) << 3) | kPerThread | kScheduler);
}

std::string ReadFile(const char* path) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return "";
  std::array<char, 4096> text;
  const ssize_t size = read(fd, text.data(), text.size());
  close(fd);
  return size > 0 ? std::string(text.data(), static_cast<size_t>(size)) : "";
}

std::string TaskFile(pid_t os_tid, const char* name) {
  std::array<char, 64> path;
  snprintf(path.data(), path.size(), "/proc/self/task/%d/%s", os_tid, name);
  return ReadFile(path.data());
}

// The number after `label` at the beginning of a line.
std::optional<int64_t> NumberAfter(std::string_view text, std::string_view label) {
  for (size_t at = 0; (at = text.find(label, at)) != std::string_view::npos; ++at) {
    if (at != 0 && text[at - 1] != '\n') continue;
    return strtoll(std::string(text.substr(at + label.size(), 32)).c_str(), nullptr, 10);
  }
  return std::nullopt;
}

// proc(5), /proc/PID/stat: the name, which may contain any character, ends at the last ')'.
std::optional<int64_t> FaultsIn(const std::string& stat) {
  const size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  long long minor = 0, major = 0;
  if (sscanf(stat.c_str() + name_end + 1, " %*c %*d %*d %*d %*d %*d %*u %lld %*u %lld", &minor,
             &major) != 2) {
    return std::nullopt;
  }
  return minor + major;
}

std::optional<int64_t> SwitchesIn(const std::string& status) {
  const auto voluntary = NumberAfter(status, "voluntary_ctxt_switches:");
  const auto others = NumberAfter(status, "nonvoluntary_ctxt_switches:");
  if (!voluntary || !others) return std::nullopt;
  return *voluntary + *others;
}

std::optional<int64_t> ReadUsageOfProcess(Metric metric) {
  rusage usage;
  if (getrusage(RUSAGE_SELF, &usage) != 0) return std::nullopt;
  if (metric == Metric::kSwitches) return usage.ru_nvcsw + usage.ru_nivcsw;
  return usage.ru_minflt + usage.ru_majflt;
}

std::optional<int64_t> BytesIn(const std::string& io, Metric metric) {
  return NumberAfter(io, metric == Metric::kReadBytes ? "rchar:" : "wchar:");
}

bool IsCompilerThread(const std::string& comm) {
  return comm.find("CompilerThre") != std::string::npos;
}

// Compiler threads start and end: jit.ns does not include ended ones.
int64_t ReadJit() {
  int64_t sum = 0;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task", error)) {
    const pid_t tid = atoi(entry.path().filename().c_str());
    if (IsCompilerThread(TaskFile(tid, "comm"))) sum += ReadClock(ThreadClock(tid)).value_or(0);
  }
  return sum;
}

}  // namespace

absl::Status KernelEvents::Install() {
  if (signal_ != 0) return absl::OkStatus();
  // Programs that use real-time signals begin with the first. The JDK takes SIGRTMAX - 2 as soon as
  // it opens a channel or a socket, and asks no one.
  for (int signal = SIGRTMAX - 4; signal > SIGRTMIN; --signal) {
    if (!IsUnused(signal)) continue;
    struct sigaction action {};
    action.sa_sigaction = HandleEventSignal;
    action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;  // Go's threads have small stacks
    // Not a fault, nor the int3 of a hook.
    sigfillset(&action.sa_mask);
    for (const int other : {SIGSEGV, SIGBUS, SIGTRAP}) sigdelset(&action.sa_mask, other);
    if (sigaction(signal, &action, nullptr) != 0) break;
    signal_ = signal;
    samples::BlockWhileSampling(signal);
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError("no real-time signal is free");
}

absl::StatusOr<EventCount*> KernelEvents::Open(pid_t tid, const KernelEvent& event) {
  const auto timer =
      samples::OpenPerfTimer({tid, *samples::FindPerfEvent(event.name), event.period, signal_});
  if (!timer.ok()) return timer.status();
  if (timer->kernel_ring != nullptr) samples::UnmapKernelRing(timer->kernel_ring);
  if (!HasRoom(timer->fd)) {
    samples::ClosePerfTimer(timer->fd);
    return absl::ResourceExhaustedError("descriptors");
  }
  if (unused_.empty()) unused_.push_back(new EventCount);
  EventCount* const count = unused_.back();
  unused_.pop_back();
  *count = {.fd = timer->fd,
            .metric = static_cast<uint32_t>(event.metric),
            .period = static_cast<int64_t>(event.period)};
  EventOfDescriptor(count->fd).store(count, std::memory_order_release);
  return count;
}

void KernelEvents::Close(Events& events) {
  for (EventCount* const event : events) {
    EventOfDescriptor(event->fd).store(nullptr, std::memory_order_release);
    samples::ClosePerfTimer(event->fd);
    unused_.push_back(event);
  }
  events.clear();
}

uint64_t KernelEvents::Start(uint64_t wanted, std::string& refused) {
  uint64_t available = 0;
  for (const KernelEvent& event : kKernelEvents) {
    if ((wanted & Bit(event.metric)) == 0) continue;
    const absl::Status installed = Install();
    const auto timer = samples::OpenPerfTimer(
        {gettid(), *samples::FindPerfEvent(event.name), event.period, /*signal=*/0});
    if (installed.ok() && timer.ok()) {
      samples::ClosePerfTimer(timer->fd);
      if (timer->kernel_ring != nullptr) samples::UnmapKernelRing(timer->kernel_ring);
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

void KernelEvents::Stop() {
  started_.store(0, std::memory_order_release);
  const std::lock_guard lock(mutex_);
  for (auto& [tid, events] : by_thread_) Close(events);
  by_thread_.clear();
}

KernelEvents::~KernelEvents() {
  Stop();
  for (const EventCount* const event : unused_) delete event;
}

void KernelEvents::StartFor(pid_t tid) {
  const uint64_t metrics = started_.load(std::memory_order_acquire);
  if (metrics == 0) return;  // stopped meanwhile
  Events events;
  for (const KernelEvent& event : kKernelEvents) {
    if ((metrics & Bit(event.metric)) == 0) continue;
    const absl::StatusOr<EventCount*> count = Open(tid, event);
    if (count.ok()) {
      events.push_back(*count);
    } else if (!absl::IsNotFound(count.status())) {  // it has ended
      unattached_.fetch_add(1, std::memory_order_relaxed);
    }
  }
  for (const EventCount* const event : events) {
    signal_safe::StartEvent(event->fd, signal_safe::EventStop::kByKernel);
  }
  by_thread_[tid] = std::move(events);
}

void KernelEvents::Attach(pid_t tid) {
  if (is_empty()) return;
  const std::lock_guard lock(mutex_);
  if (!by_thread_.contains(tid)) StartFor(tid);
}

void KernelEvents::Detach() {
  if (is_empty()) return;
  const SignalBlocked blocked(signal_);
  const std::lock_guard lock(mutex_);
  const auto own = by_thread_.find(gettid());
  if (own == by_thread_.end()) return;
  for (EventCount* const event : own->second) ChargeRest(*event);
  Close(own->second);
  by_thread_.erase(own);
}

std::optional<int64_t> ReadOwn(Metric metric) {
  const std::optional<int64_t> now = ReadOwnNow(metric);
  return now ? now : ReadThread(metric, gettid());
}

std::optional<IoBytes> ReadOwnIo() {
  const std::string io = TaskFile(gettid(), "io");
  const auto read = BytesIn(io, Metric::kReadBytes);
  const auto written = BytesIn(io, Metric::kWrittenBytes);
  if (!read || !written) return std::nullopt;
  return IoBytes{*read, *written};
}

std::optional<int64_t> ReadThread(Metric metric, pid_t os_tid) {
  switch (metric) {
    case Metric::kCpu:
      return ReadClock(ThreadClock(os_tid));
    case Metric::kSwitches:
      return SwitchesIn(TaskFile(os_tid, "status"));
    case Metric::kPageFaults:
      return FaultsIn(TaskFile(os_tid, "stat"));
    case Metric::kReadBytes:
    case Metric::kWrittenBytes:
      return BytesIn(TaskFile(os_tid, "io"), metric);
    default:
      return std::nullopt;
  }
}

std::string KernelName(pid_t os_tid) {
  std::string name = TaskFile(os_tid, "comm");
  if (!name.empty() && name.back() == '\n') name.pop_back();
  return name;
}

std::optional<int64_t> ReadProcess(Metric metric) {
  switch (metric) {
    case Metric::kCpu:
      return ReadClock(CLOCK_PROCESS_CPUTIME_ID);
    case Metric::kSwitches:
    case Metric::kPageFaults:
      return ReadUsageOfProcess(metric);
    case Metric::kReadBytes:
    case Metric::kWrittenBytes:
      return BytesIn(ReadFile("/proc/self/io"), metric);
    case Metric::kJit:
      return ReadJit();
    default:
      return std::nullopt;
  }
}

}  // namespace jtrace::metrics
