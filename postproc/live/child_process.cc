#include "postproc/live/child_process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/buffer.hpp>
#include <cstring>
#include <exception>
#include <utility>

#include "postproc/support/strings.h"

namespace jtrace::live {
namespace {

struct Pipe {
  int read = -1;
  int write = -1;

  Pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return;
    read = ends[0];
    write = ends[1];
  }
  ~Pipe() {
    if (read >= 0) close(read);
    if (write >= 0) close(write);
  }
  int TakeRead() { return std::exchange(read, -1); }
};

// The handlers of the parent would act on what they share with it.
void ResetSignals() {
  for (const int each : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) signal(each, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

[[noreturn]] void RunChild(pid_t parent, int out, int err, const std::function<int()>& body) {
  ResetSignals();
  setpgid(0, 0);  // the terminal's Ctrl-C is for the parent, which ends this process
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(1);
  const int nothing = open("/dev/null", O_RDONLY);
  if (dup2(nothing, 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0) _exit(1);
  int code = 1;
  try {
    code = body();
  } catch (const std::exception&) {  // out of memory
  }
  _exit(code);
}

int WaitFor(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return 1;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

absl::StatusOr<std::unique_ptr<ChildProcess>> ChildProcess::Start(boost::asio::io_context& context,
                                                                  const std::function<int()>& body,
                                                                  Done done) {
  Pipe out;
  Pipe err;
  const pid_t parent = getpid();
  const pid_t pid = out.read < 0 || err.read < 0 ? -1 : fork();
  if (pid < 0) {
    return absl::UnavailableError(postproc::StrCat("cannot start a process: ", strerror(errno)));
  }
  if (pid == 0) RunChild(parent, out.write, err.write, body);
  Streams streams;
  streams[0] = std::make_unique<Stream>(Stream{{context, out.TakeRead()}, "", {}});
  streams[1] = std::make_unique<Stream>(Stream{{context, err.TakeRead()}, "", {}});
  std::unique_ptr<ChildProcess> child(new ChildProcess(pid, std::move(streams), std::move(done)));
  child->Read(0);
  child->Read(1);
  return child;
}

ChildProcess::ChildProcess(pid_t pid, Streams streams, Done done)
    : pid_(pid), streams_(std::move(streams)), done_(std::move(done)) {}

ChildProcess::~ChildProcess() {
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);  // it has no file that it would have to remove
  WaitFor(pid_);
}

void ChildProcess::Read(size_t which) {
  Stream& stream = *streams_[which];
  const auto arrived = [this, which, &stream](boost::system::error_code error, size_t bytes) {
    // This object, and its streams with it, may be gone.
    if (error == boost::asio::error::operation_aborted) return;
    if (!error && stream.text.size() + bytes <= kMostOutput) {
      stream.text.append(stream.buffer.data(), bytes);
      return Read(which);
    }
    if (!error) kill(pid_, SIGKILL);
    boost::system::error_code ignored;
    stream.descriptor.close(ignored);
    if (--open_ == 0) End();
  };
  stream.descriptor.async_read_some(boost::asio::buffer(stream.buffer), arrived);
}

void ChildProcess::End() {
  const int code = WaitFor(std::exchange(pid_, -1));
  // `done_` may destroy this object.
  const Done done = std::move(done_);
  done({code, std::move(streams_[0]->text), std::move(streams_[1]->text)});
}

}  // namespace jtrace::live
