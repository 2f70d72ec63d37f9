#include "postproc/cli/jvm_process.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <sstream>
#include <utility>

#include "common/visible_text.h"
#include "postproc/support/strings.h"

namespace jtrace::control {
namespace {

using postproc::ParseInteger;
using postproc::StrAppend;
using postproc::StrCat;

// The content up to an error: a process may end while its files are read, and iterators over a
// buffer would throw.
std::string ReadAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  content << file.rdbuf();
  return content.str();
}

// The values after "Key:" in /proc/PID/status.
std::vector<std::string> StatusField(const std::string& status, std::string_view key) {
  std::istringstream lines(status);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(StrCat(key, ":"))) continue;
    std::istringstream words(line.substr(key.size() + 1));
    return {std::istream_iterator<std::string>(words), {}};
  }
  return {};
}

int64_t NumberAt(const std::vector<std::string>& values, size_t index) {
  int64_t number = 0;
  return index < values.size() && ParseInteger(values[index], number) ? number : 0;
}

bool HandlesQuit(const std::string& status) {
  const std::vector<std::string> caught = StatusField(status, "SigCgt");
  if (caught.empty()) return false;
  return (std::strtoull(caught[0].c_str(), nullptr, 16) >> (SIGQUIT - 1) & 1) != 0;
}

// Options of java that take the next argument.
bool TakesNext(std::string_view option) {
  constexpr std::string_view kOptions[] = {
      "-cp",           "-classpath",  "--class-path",  "-p",          "--module-path",
      "--add-modules", "--add-opens", "--add-exports", "--add-reads", "--source"};
  return std::find(std::begin(kOptions), std::end(kOptions), option) != std::end(kOptions);
}

std::vector<std::string> SplitAtZeros(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, '\0');) parts.push_back(part);
  return parts;
}

}  // namespace

bool HasThread(const JvmProcess& jvm, std::string_view name) {
  std::error_code error;
  std::filesystem::directory_iterator thread(StrCat("/proc/", jvm.pid, "/task"), error);
  for (const std::filesystem::directory_iterator end; !error && thread != end;
       thread.increment(error)) {
    if (ReadAll(thread->path() / "comm") == StrCat(name, "\n")) return true;
  }
  return false;
}

uid_t InnerUser(std::string_view uid_map, uid_t outer) {
  std::istringstream lines{std::string(uid_map)};
  for (uint64_t inside = 0, outside = 0, count = 0; lines >> inside >> outside >> count;) {
    if (outer >= outside && outer - outside < count) {
      return static_cast<uid_t>(inside + (outer - outside));
    }
  }
  return outer;
}

std::string ProgramOf(const std::vector<std::string>& arguments) {
  if (arguments.empty()) return "";
  const std::string launcher = std::filesystem::path(arguments[0]).filename().string();
  // Tools of the JDK, and programs that embed a JVM, have different options.
  if (launcher != "java") return VisibleText(launcher);
  size_t i = 1;
  while (i < arguments.size() && arguments[i].starts_with("-")) {
    if (arguments[i] == "-jar" || arguments[i] == "-m" || arguments[i] == "--module") {
      ++i;
      break;
    }
    i += TakesNext(arguments[i]) ? 2 : 1;
  }
  std::string program;
  for (; i < arguments.size(); ++i) {
    StrAppend(&program, program.empty() ? "" : " ", arguments[i]);
  }
  return VisibleText(program);  // others' command lines are shown on root's terminal
}

std::string ProcessTable::PathOf(pid_t pid, std::string_view file) const {
  return StrCat(proc_, "/", pid, "/", file);
}

absl::Status ProcessTable::CheckIsJvm(const JvmProcess& process) const {
  std::ifstream maps(PathOf(process.pid, "maps"));
  // Root in a container often lacks SYS_PTRACE, and then may not read processes of other users.
  if (!maps.is_open() && (errno == EACCES || errno == EPERM)) {
    return absl::PermissionDeniedError(
        StrCat("process ", process.pid, " cannot be read: run jtrace as its user (", process.user,
               "), with its capabilities, or with SYS_PTRACE"));
  }
  for (std::string line; std::getline(maps, line);) {
    if (line.ends_with("/libjvm.so")) return absl::OkStatus();
  }
  return absl::NotFoundError(StrCat("process ", process.pid, " is not a JVM"));
}

bool ProcessTable::RunsHere(pid_t pid) const {
  std::error_code error;
  const auto folder = std::filesystem::read_symlink(PathOf(pid, "cwd"), error);
  return !error && folder == std::filesystem::current_path(error);
}

absl::Status ProcessTable::CheckNamespace() const {
  std::error_code error;
  const auto self = std::filesystem::read_symlink(proc_ + "/self", error);
  if (!error && self == std::to_string(getpid())) return absl::OkStatus();
  return absl::FailedPreconditionError(
      StrCat(proc_,
             " shows another pid namespace: run jtrace wholly inside the container or "
             "wholly outside, as nsenter -t PID -m -p does"));
}

absl::StatusOr<JvmProcess> ProcessTable::Find(pid_t pid) const {
  const std::string status = ReadAll(PathOf(pid, "status"));
  if (status.empty()) return absl::NotFoundError(StrCat("there is no process ", pid));
  const std::vector<std::string> users = StatusField(status, "Uid");
  const std::vector<std::string> groups = StatusField(status, "Gid");
  const std::vector<std::string> pids = StatusField(status, "NSpid");
  JvmProcess process;
  process.pid = pid;
  process.inner_pid = pids.empty() ? pid : static_cast<pid_t>(NumberAt(pids, pids.size() - 1));
  process.user = static_cast<uid_t>(NumberAt(users, 1));
  process.inner_user = InnerUser(ReadAll(PathOf(pid, "uid_map")), process.user);
  process.group = static_cast<gid_t>(NumberAt(groups, 1));
  if (geteuid() != 0 && process.user != geteuid()) {
    return absl::PermissionDeniedError(
        StrCat("process ", pid, " belongs to another user: run jtrace as that user, or as root"));
  }
  if (absl::Status status = CheckIsJvm(process); !status.ok()) return status;
  process.catches_quit = HandlesQuit(status);
  process.program = ProgramOf(SplitAtZeros(ReadAll(PathOf(pid, "cmdline"))));
  process.root = PathOf(pid, "root");
  return process;
}

std::vector<JvmProcess> ProcessTable::List() const {
  std::vector<JvmProcess> jvms;
  DIR* const folder = opendir(proc_.c_str());
  if (folder == nullptr) return jvms;
  while (const dirent* const entry = readdir(folder)) {
    int64_t pid = 0;
    if (!ParseInteger(entry->d_name, pid)) continue;
    if (absl::StatusOr<JvmProcess> jvm = Find(static_cast<pid_t>(pid)); jvm.ok()) {
      jvms.push_back(*std::move(jvm));
    }
  }
  closedir(folder);
  std::sort(jvms.begin(), jvms.end(), [](const auto& a, const auto& b) { return a.pid < b.pid; });
  return jvms;
}

absl::StatusOr<JvmProcess> ProcessTable::Resolve(std::string_view pid_or_name) const {
  if (absl::Status status = CheckNamespace(); !status.ok()) return status;
  int64_t pid = 0;
  if (ParseInteger(pid_or_name, pid)) {
    if (pid > 0 && pid <= std::numeric_limits<pid_t>::max()) return Find(static_cast<pid_t>(pid));
    return absl::NotFoundError(StrCat("there is no process ", pid_or_name));
  }
  std::vector<JvmProcess> matches;
  for (JvmProcess& jvm : List()) {
    if (jvm.program.find(pid_or_name) != std::string::npos) matches.push_back(std::move(jvm));
  }
  if (matches.size() > 1) {
    std::vector<JvmProcess> here;
    std::copy_if(matches.begin(), matches.end(), std::back_inserter(here),
                 [this](const JvmProcess& jvm) { return RunsHere(jvm.pid); });
    if (here.size() == 1) return std::move(here.front());
  }
  if (matches.size() == 1) return std::move(matches.front());
  if (matches.empty()) {
    return absl::NotFoundError(
        StrCat("no JVM of this user runs '", pid_or_name, "'; see jtrace list"));
  }
  std::string pids;
  for (const JvmProcess& jvm : matches) StrAppend(&pids, " ", jvm.pid);
  return absl::NotFoundError(
      StrCat("'", pid_or_name, "' is run by more than one JVM; give one of the pids", pids));
}

}  // namespace jtrace::control
