#include "agent/control/server.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "agent/hot/hook_thread.h"
#include "agent/signals_blocked.h"
#include "proto/control_protocol.h"

namespace jtrace::control {
namespace {

constexpr int kSilenceMs = 1000;

// False: the other end is gone. No SIGPIPE, whatever the program does with it.
bool Send(int connection, absl::string_view data) {
  while (!data.empty()) {
    const ssize_t n = send(connection, data.data(), data.size(), MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    data.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

void SendLine(int connection, char kind, absl::string_view line) {
  Send(connection, absl::StrCat(absl::string_view(&kind, 1), line, "\n"));
}

int ExitCode(const absl::Status& status) {
  if (status.ok()) return kExitDone;
  return status.code() == absl::StatusCode::kInvalidArgument ? kExitUsage : kExitFailed;
}

// A peer that stops reading must not hold up the server for ever.
void LimitSending(int connection) {
  const timeval limit = {.tv_sec = 10, .tv_usec = 0};
  setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
}

}  // namespace

std::unique_ptr<Server> Server::Start(Commands& commands, std::string folder, std::string path) {
  std::unique_ptr<Server> server(new Server(commands, std::move(folder), std::move(path)));
  server->problem_ = server->Listen();
  server->StartThread();
  return server;
}

std::unique_ptr<Server> Server::StartWithoutSocket(Commands& commands) {
  std::unique_ptr<Server> server(new Server(commands, "", ""));
  server->StartThread();
  return server;
}

void Server::StartThread() {
  int ends[2] = {-1, -1};
  // Without a pipe nothing can wake the thread before its time.
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0) {
    wake_reader_ = OwnFd(ends[0]);
    wake_writer_ = OwnFd(ends[1]);
  }
  const SignalsBlocked blocked;
  // Detached: the thread runs as long as the process, and so does the server.
  std::thread([this] { Run(); }).detach();
}

absl::Status Server::Listen() {
  if (absl::Status own = OwnFolder(folder_); !own.ok()) return own;
  RemoveStaleSockets(folder_);
  auto socket = ListenAt(path_);
  if (socket.ok()) socket_ = *std::move(socket);
  return socket.status();
}

void Server::Wake() {
  // A full pipe has woken it already.
  if (wake_writer_.IsOurs() && write(wake_writer_.get(), "", 1) < 0) return;
}

void Server::Close() {
  if (!closed_.exchange(true) && problem_.ok() && !path_.empty()) unlink(path_.c_str());
}

void Server::Run() {
  hot::tls_is_agent_thread = true;
  pthread_setname_np(pthread_self(), "jtrace control");
  commands_.ThreadStarted(gettid());
  while (true) {
    if (!reserve_.IsOurs()) reserve_ = OwnFd(open("/dev/null", O_RDONLY | O_CLOEXEC));
    // The program closed it. What keeps us from listening again now may have gone the next time.
    if (Listens() && !socket_.IsOurs()) Listen().IgnoreError();
    WaitUntil(commands_.Tick());
    if (Listens() && socket_.IsOurs()) Accept();
  }
}

void Server::WaitUntil(absl::Time deadline) {
  const absl::Duration left = deadline - absl::Now();
  // What a program that closes descriptors took from us is noticed within this time.
  constexpr absl::Duration kLongest = absl::Minutes(1);
  const auto timeout =
      static_cast<int>(absl::ToInt64Milliseconds(std::clamp(left, absl::ZeroDuration(), kLongest)));
  const bool listens = Listens() && socket_.IsOurs();
  // poll leaves out what is below 0.
  pollfd polled[] = {{wake_reader_.IsOurs() ? wake_reader_.get() : -1, POLLIN, 0},
                     {listens ? socket_.get() : -1, POLLIN, 0}};
  poll(polled, 2, left > absl::ZeroDuration() ? timeout + 1 : 0);
  char woken[64];
  while ((polled[0].revents & POLLIN) != 0 && wake_reader_.IsOurs() &&
         read(wake_reader_.get(), woken, sizeof(woken)) == sizeof(woken)) {
  }
}

void Server::Accept() {
  OwnFd connection(accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!connection.ok() && (errno == EMFILE || errno == ENFILE)) connection = AcceptWithReserve();
  if (!connection.ok()) return;  // nobody is there (the socket does not block)
  if (!IsPeerAllowed(connection.get())) return;
  LimitSending(connection.get());
  Answer(connection.get());
}

// The process is at its limit of descriptors: who asks for its status shall be told, not left to
// wait, and the thread must not spin.
OwnFd Server::AcceptWithReserve() {
  reserve_ = OwnFd();
  OwnFd connection(accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  constexpr absl::Duration kPause = absl::Milliseconds(100);
  if (!connection.ok()) absl::SleepFor(kPause);
  return connection;
}

void Server::Answer(int connection) {
  const std::string line = ReadLine(connection);
  const std::pair<absl::string_view, absl::string_view> words =
      absl::StrSplit(line, absl::MaxSplits(' ', 1));
  const absl::Status status =
      commands_.Run(words.first, words.second, [&](char kind, absl::string_view text) {
        for (absl::string_view one : absl::StrSplit(text, '\n')) SendLine(connection, kind, one);
      });
  if (!status.ok()) SendLine(connection, kErrorLine, status.message());
  Send(connection, absl::StrCat(ExitCode(status), "\n"));
}

std::string ReadLine(int connection) {
  std::string line;
  while (line.size() < kMaxRequest) {
    pollfd polled = {connection, POLLIN, 0};
    if (poll(&polled, 1, kSilenceMs) <= 0) return "";
    char buffer[4096];
    const ssize_t n = read(connection, buffer, sizeof(buffer));
    if (n <= 0) return "";
    line.append(buffer, static_cast<size_t>(n));
    if (const size_t end = line.find('\n'); end != std::string::npos) return line.substr(0, end);
  }
  return "";
}

}  // namespace jtrace::control
