// The connections' thread: receives requests from clients of the control socket and sends them the
// control thread's answers. It waits for no client: each has a time limit for its request and one
// for reading its answer.
//
// All signals blocked except those of faults, never sampled, never a Java thread.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "agent/control/answer.h"
#include "agent/control/connection.h"
#include "agent/control/request_queue.h"
#include "agent/control/socket_folder.h"

struct pollfd;

namespace jtrace::control {

// For a process that can have no more threads, or has no memory for one.
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

  // Once, before Start: why clients cannot connect; OK if they can.
  absl::Status Listen();
  // Starts the thread, which runs as long as the process. `started` is called on it first.
  absl::Status Start(std::function<void(pid_t)> started);
  // There is something to send, or room in the queue. Any thread.
  void Wake();
  // Clients can no longer connect. Any thread.
  void Close();

 private:
  void Run();
  absl::Status OpenSocket();
  bool Listens() const { return socket_.IsOurs() && !closed_.load(); }
  void Refresh();
  bool HasRoom(absl::Time now) const;
  std::vector<pollfd> Polled(absl::Time now) const;
  int Timeout(absl::Time now) const;
  // True: a client connects.
  bool Poll();
  void Accept(absl::Time now);
  OwnFd AcceptOne();
  // The oldest that waits only for its client; none: all are being answered.
  std::vector<Connection>::const_iterator OldestIdle() const;

  const std::string folder_;
  const std::string path_;
  const Limits limits_;
  RequestQueue& queue_;
  AnswerMemory memory_;
  bool has_listened_ = false;  // constant once the thread runs
  OwnFd socket_;
  OwnFd wake_reader_, wake_writer_;
  std::atomic<bool> woken_{false};
  std::atomic<bool> closed_{false};
  OwnFd reserve_;  // released for a connection when the process has no descriptor left
  absl::Time accept_again_ = absl::InfinitePast();
  std::vector<Connection> connections_;  // the oldest first
};

}  // namespace jtrace::control
