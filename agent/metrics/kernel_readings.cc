#include "agent/metrics/kernel_readings.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "agent/base/clock.h"
#include "agent/metrics/current_thread_totals.h"

namespace jtrace::metrics {
namespace {

std::optional<int64_t> ReadClock(clockid_t clock) {
  timespec now;
  if (clock_gettime(clock, &now) != 0) return std::nullopt;
  return static_cast<int64_t>(ToNanos(now));
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

// The kernel keeps 15 characters of "C2 CompilerThread0" and "JVMCI CompilerThread0".
bool IsCompilerThread(const std::string& comm) {
  return comm.find(" CompilerT") != std::string::npos;
}

// Compiler threads start and end. jit.ns does not include ended ones, so it may fall.
int64_t ReadJit() {
  int64_t sum = 0;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task", error)) {
    const pid_t tid = atoi(entry.path().filename().c_str());
    if (IsCompilerThread(TaskFile(tid, "comm"))) sum += ReadClock(ThreadCpuClock(tid)).value_or(0);
  }
  return sum;
}

}  // namespace

std::optional<int64_t> ReadOwn(Metric metric) {
  const std::optional<int64_t> now = ReadCurrentThreadFast(metric);
  return now ? now : ReadThread(metric, gettid());
}

std::optional<IoBytes> ReadCurrentThreadIo() {
  const std::string io = TaskFile(gettid(), "io");
  const auto read = BytesIn(io, Metric::kReadBytes);
  const auto written = BytesIn(io, Metric::kWrittenBytes);
  if (!read || !written) return std::nullopt;
  return IoBytes{*read, *written};
}

std::optional<int64_t> ReadThread(Metric metric, pid_t os_tid) {
  switch (metric) {
    case Metric::kCpu:
      return ReadClock(ThreadCpuClock(os_tid));
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
