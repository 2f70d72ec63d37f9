#include "postproc/ship/child_program.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>

#include "absl/cleanup/cleanup.h"
#include "postproc/ship/steady_clock.h"
#include "postproc/support/strings.h"

namespace jtrace::ship {
namespace {

using postproc::StrCat;

constexpr size_t kMostOutput = 1 << 16;  // labels may be long

// In the child. Only functions that are allowed after fork.
[[noreturn]] void Become(const std::vector<char*>& arguments, pid_t parent, int output,
                         mode_t mask) {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  signal(SIGPIPE, SIG_DFL);
  umask(mask);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (dup2(nothing, 0) < 0 || dup2(output, 1) < 0 || dup2(output, 2) < 0) _exit(1);
  execv(arguments[0], arguments.data());
  constexpr int kCannotRun = 127;
  _exit(kCannotRun);
}

// What has arrived; its end has the error, after any number of warnings.
void TakeOutput(int fd, std::string& output) {
  std::array<char, 4096> buffer;
  ssize_t n = 0;
  while ((n = read(fd, buffer.data(), buffer.size())) > 0) {
    output.append(buffer.data(), static_cast<size_t>(n));
    if (output.size() > kMostOutput) output.erase(0, output.size() - kMostOutput);
  }
}

absl::Status WaitFor(pid_t pid, int fd, absl::Time deadline, StopSignal& stop, ChildEnd& end) {
  constexpr absl::Duration kPeriod = absl::Milliseconds(200);  // a full pipe sends no signal
  while (true) {
    TakeOutput(fd, end.output);
    int status = 0;
    const pid_t ended = waitpid(pid, &status, WNOHANG);
    if (ended == pid) {
      TakeOutput(fd, end.output);
      end.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      return absl::OkStatus();
    }
    if (ended < 0 && errno != EINTR) return absl::UnavailableError("cannot wait for a process");
    const bool is_late = SteadyNow() > deadline;
    if (is_late || stop.requested()) {
      kill(pid, SIGKILL);
      while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
      return is_late ? absl::DeadlineExceededError("it took too long")
                     : absl::CancelledError("this program was stopped");
    }
    stop.Wait(kPeriod);
  }
}

}  // namespace

absl::StatusOr<ChildEnd> RunChild(const std::vector<std::string>& command, absl::Duration longest,
                                  StopSignal& stop, bool is_private) {
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (const std::string& part : command) arguments.push_back(const_cast<char*>(part.c_str()));
  arguments.push_back(nullptr);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    return absl::UnavailableError(StrCat("cannot start a process: ", strerror(errno)));
  }
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  const absl::Cleanup closed = [&] { close(ends[0]); };
  const pid_t parent = getpid();
  const mode_t before = umask(S_IRWXG | S_IRWXO);
  umask(before);
  const mode_t mask = is_private ? S_IRWXG | S_IRWXO : before;
  const pid_t pid = fork();
  if (pid == 0) Become(arguments, parent, ends[1], mask);
  const int error = errno;
  close(ends[1]);
  if (pid < 0) {
    return absl::UnavailableError(StrCat("cannot start a process: ", strerror(error)));
  }
  ChildEnd end;
  if (absl::Status status = WaitFor(pid, ends[0], SteadyNow() + longest, stop, end); !status.ok()) {
    return status;
  }
  return end;
}

}  // namespace jtrace::ship
