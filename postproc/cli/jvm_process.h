// JVMs of this machine, as /proc shows them.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace jtrace::control {

struct JvmProcess {
  pid_t pid = 0;         // as we see it
  pid_t inner_pid = 0;   // as it sees itself, in a container
  uid_t user = 0;        // effective
  uid_t inner_user = 0;  // as it sees itself, in a user namespace
  gid_t group = 0;
  // It handles SIGQUIT; otherwise the attach request would end it.
  bool catches_quit = false;
  // Main class or jar with its arguments.
  std::string program;
  // Where its files are: "/proc/PID/root".
  std::string root;
};

// Finds JVMs in /proc.
class ProcessTable {
 public:
  // `proc`: another folder in tests.
  explicit ProcessTable(std::string proc = "/proc") : proc_(std::move(proc)) {}

  // NotFound if there is no such process or it is not a JVM.
  absl::StatusOr<JvmProcess> Find(pid_t pid) const;
  // All JVMs that this user may attach to, by pid.
  std::vector<JvmProcess> List() const;
  // By number, or by a part of `program` that only one JVM has, or only one in the current folder.
  // FailedPrecondition if /proc belongs to another pid namespace than we do: its numbers are those
  // of other processes here, and the signal of an attach would reach one of them.
  absl::StatusOr<JvmProcess> Resolve(std::string_view pid_or_name) const;

 private:
  absl::Status CheckNamespace() const;
  absl::Status CheckIsJvm(const JvmProcess& process) const;
  bool RunsHere(pid_t pid) const;
  std::string PathOf(pid_t pid, std::string_view file) const;

  std::string proc_;
};

// Whether the JVM has a thread of that name; the kernel keeps 15 characters of it.
bool HasThread(const JvmProcess& jvm, std::string_view name);

// The user that `outer` is in the namespace whose /proc/PID/uid_map is given; `outer` if it is not
// mapped.
uid_t InnerUser(std::string_view uid_map, uid_t outer);

// The program that a java command line runs; `arguments` as in /proc/PID/cmdline, split.
std::string ProgramOf(const std::vector<std::string>& arguments);

}  // namespace jtrace::control
