#include "agent/base/thread_cpu.h"

#include <dirent.h>
#include <time.h>

#include <fstream>
#include <memory>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace jtrace {
namespace {

// The kernel's number of the clock (CPUCLOCK_SCHED, CPUCLOCK_PERTHREAD), as glibc makes it in
// pthread_getcpuclockid, which wants a pthread_t.
clockid_t ClockOf(pid_t tid) {
  return static_cast<clockid_t>((~static_cast<unsigned>(tid) << 3) | 6u);
}

bool HasName(const std::string& tid, absl::string_view name) {
  std::ifstream file(absl::StrCat("/proc/self/task/", tid, "/comm"));
  std::string text;
  return std::getline(file, text) && text == name;
}

}  // namespace

std::optional<absl::Duration> ThreadCpu(pid_t tid) {
  timespec time = {};
  if (clock_gettime(ClockOf(tid), &time) != 0) return std::nullopt;
  return absl::DurationFromTimespec(time);
}

pid_t FindThread(absl::string_view name) {
  const std::unique_ptr<DIR, int (*)(DIR*)> tasks(opendir("/proc/self/task"), &closedir);
  if (tasks == nullptr) return 0;
  while (const dirent* entry = readdir(tasks.get())) {
    pid_t tid = 0;
    const std::string number = entry->d_name;
    if (absl::SimpleAtoi(number, &tid) && HasName(number, name)) return tid;
  }
  return 0;
}

}  // namespace jtrace
