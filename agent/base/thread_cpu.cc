#include "agent/base/thread_cpu.h"

#include <dirent.h>
#include <time.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "agent/base/clock.h"

namespace jtrace {
namespace {

std::string NameOf(const std::string& tid) {
  std::ifstream file(absl::StrCat("/proc/self/task/", tid, "/comm"));
  std::string text;
  std::getline(file, text);
  return text;
}

}  // namespace

std::optional<absl::Duration> ThreadCpu(pid_t tid) {
  timespec time = {};
  if (clock_gettime(ThreadCpuClock(tid), &time) != 0) return std::nullopt;
  return absl::DurationFromTimespec(time);
}

bool ThreadIsRunnable(pid_t tid) {
  std::ifstream file(absl::StrCat("/proc/self/task/", tid, "/stat"));
  std::string text;
  std::getline(file, text);
  const size_t name_end = text.rfind(')');
  return name_end != std::string::npos && absl::ClippedSubstr(text, name_end, 3) == ") R";
}

std::vector<pid_t> FindThreads(std::span<const std::string> names) {
  std::vector<pid_t> found;
  const std::unique_ptr<DIR, int (*)(DIR*)> tasks(opendir("/proc/self/task"), &closedir);
  if (tasks == nullptr) return found;
  while (const dirent* entry = readdir(tasks.get())) {
    pid_t tid = 0;
    const std::string number = entry->d_name;
    if (!absl::SimpleAtoi(number, &tid)) continue;
    if (std::ranges::find(names, NameOf(number)) != names.end()) found.push_back(tid);
  }
  return found;
}

pid_t FindThread(absl::string_view name) {
  const std::string wanted[] = {std::string(name)};
  const std::vector<pid_t> found = FindThreads(wanted);
  return found.empty() ? 0 : found.front();
}

}  // namespace jtrace
