// The clients' thread: receives requests from clients of the control socket and sends them the
// control thread's answers. It waits for no client: each has a time limit for its request and one
// for reading its answer. It blocks all signals except those of faults, is never sampled, and never
// is a Java thread.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "agent/base/agent_file.h"
#include "agent/base/agent_thread.h"
#include "agent/control/answer.h"
#include "agent/control/request_queue.h"
#include "agent/control/socket_folder.h"

struct pollfd;

namespace jtrace::control {

// How much clients may use of the program's resources.
struct Limits {
  absl::Duration for_request = absl::Seconds(5);  // from connecting to the end of the line
  absl::Duration for_answer = absl::Seconds(10);  // to read it, once it is complete
  size_t connections = 32;                        // beyond it the oldest idle one is closed
  size_t answer_bytes = size_t{8} << 20;
  size_t all_answers_bytes = size_t{32} << 20;  // that clients have not read yet
};

// What all connections share.
struct ConnectionContext {
  const Limits& limits;
  RequestQueue& queue;
  AnswerMemory& memory;
};

// One client: reads its request, sends its answer, and never waits for it. On the clients' thread.
class Connection {
 public:
  Connection(AgentFd fd, absl::Time connected, const Limits& limits)
      : fd_(std::move(fd)), deadline_(connected + limits.for_request) {}

  // Reads and sends as much as it can without waiting. False: the connection has ended.
  bool Serve(const ConnectionContext& context, absl::Time now);

  // -1: the program closed the descriptor.
  int fd() const { return fd_.IsOurs() ? fd_.get() : -1; }
  // The events to poll for; 0: only the client's disconnection.
  short PollEvents() const;
  absl::Time deadline() const { return deadline_; }
  // Whether the request has arrived completely.
  bool has_line() const { return has_line_; }
  // Whether the request is complete, but the queue had no room for it.
  bool WaitsForRoom() const { return has_line_ && answer_ == nullptr; }
  bool IsSubmitted() const { return answer_ != nullptr; }
  // Whether only the client could make progress when the connection was last served.
  bool IsIdle() const { return is_idle_; }

 private:
  bool Read(const ConnectionContext& context, absl::Time now);
  void Submit(const ConnectionContext& context);
  void Refuse(const ConnectionContext& context, const absl::Status& why, absl::Time now);

  AgentFd fd_;
  absl::Time deadline_;
  std::string received_;
  bool is_idle_ = false;
  bool has_line_ = false;           // `received_` is the request, without its line feed
  std::shared_ptr<Answer> answer_;  // null: the queue does not have the request yet
};

// The error of a process that can have no more threads, or has no memory for one.
absl::Status NoThread(absl::string_view why);

class Connections {
 public:
  // Requests go to `queue`, which must live forever.
  Connections(std::string folder, std::string path, const Limits& limits, RequestQueue& queue)
      : folder_(std::move(folder)),
        path_(std::move(path)),
        limits_(limits),
        queue_(queue),
        memory_(limits.all_answers_bytes) {}
  Connections(const Connections&) = delete;
  Connections& operator=(const Connections&) = delete;

  // Opens the socket; once, before Start. Returns why clients cannot connect; OK if they can.
  absl::Status Listen();
  // Starts the thread, which runs as long as the process. `started` is called on it first.
  absl::Status Start(std::function<void(pid_t)> started);
  // Wakes the thread, which has something to send, or room in the queue. Any thread.
  void Wake();
  // Removes the socket, so that clients can no longer connect. Any thread.
  void Close();

 private:
  void Run();
  absl::Status OpenSocket();
  bool Listens() const { return socket_.IsOurs() && !closed_.load(); }
  void Refresh();
  bool HasRoom(absl::Time now) const;
  std::vector<pollfd> Polled(absl::Time now) const;
  int Timeout(absl::Time now) const;
  // Waits for events. True: a client wants to connect.
  bool Poll();
  void Accept(absl::Time now);
  AgentFd AcceptOne();
  // Returns the oldest connection that waits only for its client; end(): there is none.
  std::vector<Connection>::const_iterator OldestIdle() const;

  const std::string folder_;
  const std::string path_;
  const Limits limits_;
  RequestQueue& queue_;
  AnswerMemory memory_;
  AgentThread thread_;
  bool has_listened_ = false;  // constant once the thread runs
  AgentFd socket_;
  AgentFd wake_reader_, wake_writer_;
  std::atomic<bool> woken_{false};
  std::atomic<bool> closed_{false};
  AgentFd reserve_;  // released for a connection when the process has no descriptor left
  absl::Time accept_again_ = absl::InfinitePast();
  std::vector<Connection> connections_;  // the oldest first
};

}  // namespace jtrace::control
