#include "agent/control/server.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
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
  std::unique_ptr<Server> server(new Server(commands, std::move(path)));
  server->Listen(folder);
  server->StartThread();
  return server;
}

std::unique_ptr<Server> Server::StartWithoutSocket(Commands& commands) {
  std::unique_ptr<Server> server(new Server(commands, ""));
  server->StartThread();
  return server;
}

void Server::StartThread() {
  wake_ = UniqueFd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  const SignalsBlocked blocked;
  // Detached: the thread runs as long as the process, and so does the server.
  std::thread([this] { Run(); }).detach();
}

void Server::Listen(const std::string& folder) {
  problem_ = OwnFolder(folder);
  if (!problem_.ok()) return;
  RemoveStaleSockets(folder);
  auto socket = ListenAt(path_);
  problem_ = socket.status();
  if (socket.ok()) socket_ = *std::move(socket);
}

void Server::Wake() {
  const uint64_t one = 1;
  // A full counter has woken it already.
  if (write(wake_.get(), &one, sizeof(one)) < 0) return;
}

void Server::Close() {
  if (!closed_.exchange(true) && socket_.ok()) unlink(path_.c_str());
}

void Server::Run() {
  pthread_setname_np(pthread_self(), "jtrace control");
  commands_.ThreadStarted(gettid());
  while (true) {
    WaitUntil(commands_.Tick());
    if (socket_.ok() && !closed_.load()) Accept();
  }
}

void Server::WaitUntil(absl::Time deadline) {
  const absl::Duration left = deadline - absl::Now();
  constexpr absl::Duration kLongest = absl::Hours(1);
  const auto timeout =
      static_cast<int>(absl::ToInt64Milliseconds(std::clamp(left, absl::ZeroDuration(), kLongest)));
  pollfd polled[] = {{wake_.get(), POLLIN, 0}, {socket_.get(), POLLIN, 0}};
  poll(polled, closed_.load() || !socket_.ok() ? 1 : 2,
       left > absl::ZeroDuration() ? timeout + 1 : 0);
  uint64_t count;
  if (read(wake_.get(), &count, sizeof(count)) < 0) return;  // not woken
}

void Server::Accept() {
  const UniqueFd connection(accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!connection.ok()) return;  // nobody is there (the socket does not block)
  if (!IsPeerAllowed(connection.get())) return;
  LimitSending(connection.get());
  Answer(connection.get());
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
