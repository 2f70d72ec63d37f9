#include "agent/control/server.h"

#include <unistd.h>

#include <algorithm>
#include <exception>
#include <system_error>
#include <utility>

#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "agent/base/clock.h"
#include "agent/signal_safe/agent_work_scope.h"

namespace jtrace::control {

Server& Server::Start(Commands& commands, std::string folder, std::string path,
                      const Limits& limits) {
  Server& server = *new Server(commands);
  server.connections_ =
      std::make_unique<Connections>(std::move(folder), std::move(path), limits, server.queue_);
  server.problem_ = server.connections_->Listen();
  server.problem_.Update(server.StartThread());
  if (server.problem_.ok()) {
    server.problem_ =
        server.connections_->Start([&commands](pid_t tid) { commands.ClientsThreadStarted(tid); });
  }
  if (!server.problem_.ok()) server.connections_->Close();
  return server;
}

Server& Server::StartWithoutSocket(Commands& commands) {
  Server& server = *new Server(commands);
  server.problem_ = server.StartThread();
  return server;
}

absl::Status Server::StartThread() {
  try {
    thread_.Start("jtrace control", [this] { Run(); });
  } catch (const std::system_error& failure) {
    return NoThread(failure.what());
  }
  thread_.Detach();
  return absl::OkStatus();
}

void Server::Close() {
  if (connections_ != nullptr) connections_->Close();
}

void Server::Run() {
  commands_.ThreadStarted(gettid());
  commands_.UseServer(*this);
  // The longest wait, because the system's clock may be set back meanwhile.
  constexpr absl::Duration kMaxWait = absl::Minutes(1);
  while (!signal_safe::agent_is_disabled.load()) {
    signal_safe::RunAsAgent(
        [&] { ServeOne(absl::Now() + kMaxWait, [](absl::string_view) { return true; }); });
  }
}

bool Server::ServeOne(absl::Time until, RequestQueue::Accepts accepts) {
  until = std::min(until, commands_.RunDueWork());
  const std::optional<Request> request = queue_.Next(until, accepts);
  if (request.has_value()) CarryOut(*request, commands_, [this] { connections_->Wake(); });
  return request.has_value();
}

bool Server::Pause(absl::Duration time, RequestQueue::Accepts accepts) {
  // The queue waits by the system's clock, which may be set back. So each wait is short, and the
  // end is by the monotonic clock. Even without time left, a waiting request is carried out.
  const uint64_t end = MonotonicNanos() + static_cast<uint64_t>(absl::ToInt64Nanoseconds(time));
  for (uint64_t now = MonotonicNanos();; now = MonotonicNanos()) {
    const absl::Duration left = absl::Nanoseconds(now < end ? end - now : 0);
    if (ServeOne(absl::Now() + std::min(left, absl::Seconds(1)), accepts)) return true;
    if (queue_.HasAny()) return false;
    if (now >= end) return true;
  }
}

void CarryOut(const Request& request, Commands& commands, absl::FunctionRef<void()> wake) {
  const std::pair<absl::string_view, absl::string_view> words =
      absl::StrSplit(request.line, absl::MaxSplits(' ', 1));
  Answer& answer = *request.answer;
  absl::Status status;
  try {
    status = commands.Run(words.first, words.second, [&](char kind, absl::string_view text) {
      answer.Add(kind, text);
      wake();
    });
  } catch (const std::bad_alloc&) {
    signal_safe::DisableAgent();
    status = absl::ResourceExhaustedError("no memory; raise ulimit -v");
  } catch (const std::exception& failure) {
    status = absl::ResourceExhaustedError(failure.what());
  }
  answer.Finish(status);
  wake();
}

}  // namespace jtrace::control
