#include "postproc/live/live_data.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <cstring>
#include <exception>
#include <utility>

#include "postproc/live/live_page.h"
#include "postproc/support/strings.h"

namespace jtrace::live {
namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;
using Phase = LiveState::Phase;
using postproc::StrCat;

constexpr milliseconds kLeastRest{1000};
constexpr milliseconds kLongestRest{60'000};
constexpr int kShare = 4;        // rests for each time at work
constexpr int kSignalled = 128;  // ChildProcess::Result

// What a child that failed says last on stderr, without the program's name: warnings come before.
// One that a signal ended says nothing.
std::string Failure(std::string_view what, const ChildProcess::Result& result) {
  std::string_view text = result.err;
  while (text.ends_with('\n')) text.remove_suffix(1);
  std::string_view line = text.substr(text.rfind('\n') + 1);
  for (const std::string_view name : {"jtrace: ", "jtrace-post: "}) {
    if (line.starts_with(name)) line.remove_prefix(name.size());
  }
  if (!line.empty()) return std::string(line);
  return result.exit_code > kSignalled
             ? StrCat(what, " was ended by signal ", result.exit_code - kSignalled,
                      "; less detail takes less memory: --scope=app, --sites=off")
             : StrCat(what, " failed with status ", result.exit_code);
}

}  // namespace

milliseconds RestAfter(milliseconds cost) {
  return std::clamp(kShare * cost, kLeastRest, kLongestRest);
}

void LiveData::WhenRefreshed(Ready ready) {
  if (IsOver()) {
    boost::asio::post(context_, std::move(ready));
    return;
  }
  waiting_.push_back(std::move(ready));
  Schedule();
}

void LiveData::JvmEnded() {
  has_ended_ = true;
  is_complete_ = false;
  timer_.cancel();
  if (child_ == nullptr) Begin();
}

bool LiveData::IsFresh() const { return state_.serial > 0 && (IsOver() || now_() < next_); }

bool LiveData::IsOver() const { return has_ended_ && is_complete_ && child_ == nullptr; }

void LiveData::Schedule() {
  if (child_ != nullptr || waiting_.empty()) return;
  timer_.expires_at(next_);
  timer_.async_wait([this](boost::system::error_code error) {
    if (!error && child_ == nullptr) Begin();
  });
}

void LiveData::Begin() {
  begun_ = now_();
  if (!has_ended_) return Run(source_.flush, &LiveData::Flushed);
  phase_ = Phase::kEnded;
  message_.clear();
  Report();
}

void LiveData::Run(const std::function<int()>& body,
                   void (LiveData::*then)(const ChildProcess::Result&)) {
  auto child =
      ChildProcess::Start(context_, body, [this, then](const ChildProcess::Result& result) {
        child_ = nullptr;
        (this->*then)(result);
      });
  if (!child.ok()) {
    message_ = std::string(child.status().message());
    is_complete_ = phase_ != Phase::kLive;
    return Finish();
  }
  child_ = *std::move(child);
}

void LiveData::Flushed(const ChildProcess::Result& result) {
  absl::Status status = result.exit_code == 0 ? source_.open(result.out)
                                              : absl::UnavailableError(Failure("flush", result));
  state_.has_recording = result.exit_code != kNoRecording;
  phase_ = has_ended_ ? Phase::kEnded : status.ok() ? Phase::kLive : Phase::kStopped;
  message_ = has_ended_ ? "" : std::string(status.message());
  if (status.ok()) {
    is_open_ = true;
    is_complete_ = false;
    return Report();
  }
  // The recording has ended: what it wrote last.
  if (!is_complete_) return Report();
  Finish();
}

void LiveData::Report() {
  if (!is_open_) {
    is_complete_ = true;
    return Finish();
  }
  Run(source_.report, &LiveData::Reported);
}

void LiveData::Reported(const ChildProcess::Result& result) {
  is_complete_ = phase_ != Phase::kLive;
  const absl::StatusOr<std::string_view> data = DataOfPage(result.out);
  if (result.exit_code != 0) {
    message_ = Failure("jtrace-post", result);
  } else if (!data.ok()) {
    message_ = std::string(data.status().message());
  } else {
    state_.data = std::string(*data);
    state_.made = now_();
    ++state_.serial;
  }
  Finish();
}

// Only now: who asked meanwhile got the state of the data that it got.
void LiveData::Finish() {
  const auto now = now_();
  state_.phase = phase_;
  state_.message = message_;
  state_.cost = duration_cast<milliseconds>(now - begun_);
  next_ = now + RestAfter(state_.cost);
  // The JVM ended meanwhile: what it wrote last may not have been read.
  if (has_ended_ && !(is_complete_ && phase_ == Phase::kEnded)) return Begin();
  for (const Ready& ready : std::exchange(waiting_, {})) ready();
  Schedule();
}

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
