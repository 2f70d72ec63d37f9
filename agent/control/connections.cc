#include "agent/control/connections.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "agent/signal_safe/agent_work_scope.h"
#include "proto/control_protocol.h"

namespace jtrace::control {
namespace {

// The longest wait: the thread notices within it that the program has closed its descriptors.
constexpr absl::Duration kMaxWait = absl::Minutes(1);
// The longest wait without a pipe that wakes the thread, while a client waits for an answer.
constexpr absl::Duration kWaitUnwoken = absl::Milliseconds(50);
// The wait when no descriptor is left for a client.
constexpr absl::Duration kPauseWithoutDescriptors = absl::Milliseconds(100);

}  // namespace

absl::Status NoThread(absl::string_view why) {
  return absl::ResourceExhaustedError(
      absl::StrCat("no thread for it: ", why, "; raise ulimit -v or ulimit -u"));
}

absl::Status Connections::Listen() {
  absl::Status status = OpenSocket();
  has_listened_ = status.ok();
  return status;
}

absl::Status Connections::OpenSocket() {
  if (absl::Status own = OwnFolder(folder_); !own.ok()) return own;
  RemoveStaleSockets(folder_);
  auto socket = ListenAt(path_);
  if (!socket.ok()) return socket.status();
  socket_ = *std::move(socket);
  return absl::OkStatus();
}

absl::Status Connections::Start(std::function<void(pid_t)> started) {
  int ends[2] = {-1, -1};
  // Without a pipe the thread looks for answers every kWaitUnwoken.
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0) {
    wake_reader_ = AgentFd(ends[0]);
    wake_writer_ = AgentFd(ends[1]);
  }
  try {
    thread_.Start("jtrace clients", [this, started = std::move(started)] {
      started(gettid());
      Run();
    });
  } catch (const std::system_error& failure) {
    return NoThread(failure.what());
  }
  thread_.Detach();
  return absl::OkStatus();
}

void Connections::Wake() {
  if (woken_.exchange(true)) return;
  // If the pipe is full, the thread is woken already.
  if (wake_writer_.IsOurs() && write(wake_writer_.get(), "", 1) < 0) return;
}

void Connections::Close() {
  if (!closed_.exchange(true) && has_listened_) unlink(path_.c_str());
}

void Connections::Run() {
  const ConnectionContext context = {limits_, queue_, memory_};
  // When the loop ends, clients see the end of their connections.
  const auto close = absl::MakeCleanup([this] {
    Close();
    socket_ = AgentFd();
    connections_.clear();
  });
  while (!signal_safe::agent_is_disabled.load()) {
    signal_safe::RunAsAgent([&] {
      Refresh();
      const bool somebody_connects = Poll();
      const absl::Time now = absl::Now();
      // Before Accept, which may close an idle client: who has just sent a request is not idle.
      std::erase_if(connections_, [&](Connection& it) { return !it.Serve(context, now); });
      if (somebody_connects && Listens() && HasRoom(now)) Accept(now);
    });
  }
}

void Connections::Refresh() {
  if (!reserve_.IsOurs()) reserve_ = AgentFd(open("/dev/null", O_RDONLY | O_CLOEXEC));
  // The program closed the socket. If it cannot be opened now, the next call tries again.
  if (!closed_.load() && !socket_.IsOurs()) OpenSocket().IgnoreError();
}

bool Connections::HasRoom(absl::Time now) const {
  return now >= accept_again_ &&
         (connections_.size() < limits_.connections || OldestIdle() != connections_.end());
}

// poll ignores descriptors below 0.
std::vector<pollfd> Connections::Polled(absl::Time now) const {
  const bool listens = Listens() && HasRoom(now);
  std::vector<pollfd> polled = {{wake_reader_.IsOurs() ? wake_reader_.get() : -1, POLLIN, 0},
                                {listens ? socket_.get() : -1, POLLIN, 0}};
  for (const Connection& it : connections_) {
    polled.push_back({it.WaitsForRoom() ? -1 : it.fd(), it.PollEvents(), 0});
  }
  return polled;
}

int Connections::Timeout(absl::Time now) const {
  absl::Time until = now + kMaxWait;
  if (accept_again_ > now) until = std::min(until, accept_again_);
  for (const Connection& it : connections_) {
    until = std::min(until, it.deadline());
    if (it.has_line() && !wake_reader_.IsOurs()) until = std::min(until, now + kWaitUnwoken);
  }
  const absl::Duration left = std::max(until - now, absl::ZeroDuration());
  return static_cast<int>(absl::ToInt64Milliseconds(left)) + 1;
}

bool Connections::Poll() {
  const absl::Time now = absl::Now();
  std::vector<pollfd> polled = Polled(now);
  const int ready = poll(polled.data(), polled.size(), Timeout(now));
  char woken[64];
  while (ready > 0 && (polled[0].revents & POLLIN) != 0 && wake_reader_.IsOurs() &&
         read(wake_reader_.get(), woken, sizeof(woken)) == sizeof(woken)) {
  }
  woken_.store(false);
  if (ready <= 0) return false;
  // While a request is carried out, poll would report its client's disconnection again and again.
  constexpr int kGone = POLLHUP | POLLERR | POLLNVAL;
  for (size_t i = connections_.size(); i-- > 0;) {
    const bool is_gone = (polled[i + 2].revents & kGone) != 0;
    if (is_gone && connections_[i].IsSubmitted()) {
      connections_.erase(connections_.begin() + static_cast<ptrdiff_t>(i));
    }
  }
  return polled[1].revents != 0;
}

void Connections::Accept(absl::Time now) {
  AgentFd fd = AcceptOne();
  if (!fd.ok() || !IsPeerAllowed(fd.get())) return;
  if (connections_.size() >= limits_.connections) {
    const auto idle = OldestIdle();
    if (idle == connections_.end()) return;
    connections_.erase(idle);
  }
  connections_.emplace_back(std::move(fd), now, limits_);
}

AgentFd Connections::AcceptOne() {
  constexpr int kFlags = SOCK_CLOEXEC | SOCK_NONBLOCK;
  AgentFd fd(accept4(socket_.get(), nullptr, nullptr, kFlags));
  if (fd.ok() || (errno != EMFILE && errno != ENFILE)) return fd;  // or no client is waiting
  // The process is at its limit of descriptors: a client that requests its status must get an
  // answer.
  if (reserve_.IsOurs()) {
    reserve_ = AgentFd();
  } else if (const auto idle = OldestIdle(); idle != connections_.end()) {
    connections_.erase(idle);
  }
  fd = AgentFd(accept4(socket_.get(), nullptr, nullptr, kFlags));
  if (!fd.ok()) accept_again_ = absl::Now() + kPauseWithoutDescriptors;
  return fd;
}

std::vector<Connection>::const_iterator Connections::OldestIdle() const {
  return std::find_if(connections_.begin(), connections_.end(),
                      [](const Connection& it) { return it.IsIdle(); });
}

short Connection::PollEvents() const {
  if (!has_line_) return POLLIN;
  return answer_ != nullptr && answer_->has_unsent() ? POLLOUT : 0;
}

bool Connection::Serve(const ConnectionContext& context, absl::Time now) {
  if (!fd_.IsOurs()) return false;  // the program closed it
  if (!has_line_ && !Read(context, now)) return false;
  if (WaitsForRoom()) Submit(context);
  is_idle_ = !has_line_;
  if (answer_ == nullptr) {
    if (now < deadline_) return true;
    Refuse(context,
           absl::InvalidArgumentError(absl::StrCat("no complete request arrived within ",
                                                   absl::FormatDuration(context.limits.for_request),
                                                   " of connecting")),
           now);
  }
  if (!answer_->SendTo(fd_.get())) return false;
  if (!answer_->is_finished()) return true;
  if (answer_->is_sent()) return false;
  is_idle_ = true;
  deadline_ = std::min(deadline_, now + context.limits.for_answer);
  return now < deadline_;
}

// False: the client has disconnected.
bool Connection::Read(const ConnectionContext& context, absl::Time now) {
  std::string& line = received_;
  while (line.size() < kMaxRequest) {
    char buffer[4096];
    const size_t room = std::min(sizeof(buffer), kMaxRequest - line.size());
    const ssize_t n = read(fd_.get(), buffer, room);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno == EAGAIN || errno == EWOULDBLOCK;
    if (n == 0) {
      if (line.empty()) return false;
      Refuse(context, absl::InvalidArgumentError("the request does not end in a line feed"), now);
      return true;
    }
    line.append(buffer, static_cast<size_t>(n));
    if (const size_t end = line.find('\n'); end != std::string::npos) {
      line.resize(end);
      has_line_ = true;
      deadline_ = absl::InfiniteFuture();
      return true;
    }
  }
  Refuse(context,
         absl::InvalidArgumentError(
             absl::StrCat("the request is longer than ", kMaxRequest, " bytes")),
         now);
  return true;
}

void Connection::Submit(const ConnectionContext& context) {
  Request request = {received_,
                     std::make_shared<Answer>(context.limits.answer_bytes, context.memory)};
  const std::shared_ptr<Answer> answer = request.answer;
  if (!context.queue.Add(request)) return;  // there will be room
  answer_ = answer;
  received_.clear();
}

void Connection::Refuse(const ConnectionContext& context, const absl::Status& why, absl::Time now) {
  has_line_ = true;
  received_.clear();
  answer_ = std::make_shared<Answer>(context.limits.answer_bytes, context.memory);
  answer_->Finish(why);
  deadline_ = now + context.limits.for_answer;
}

}  // namespace jtrace::control
