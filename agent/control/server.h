// Answers the `jtrace` command on a Unix socket, and wakes for the recording's own deadlines
// (duration=, loop=).
//
// It has two threads, which block all signals except those of faults and are never sampled. The
// control thread carries out requests, one after the other, and keeps the deadlines; it becomes a
// Java thread only while a request needs one. It never waits for a client: the clients' thread
// (connections.h) exchanges data with them.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "agent/base/agent_thread.h"
#include "agent/control/connections.h"
#include "agent/control/request_queue.h"

namespace jtrace::control {

class Server;

// Carries out requests. All calls are on the control thread except ClientsThreadStarted.
class Commands {
 public:
  using Reply = absl::FunctionRef<void(char kind, absl::string_view line)>;

  virtual ~Commands() = default;
  // Carries out `verb`; lines are passed to `reply`, which does not wait for the client. The
  // answer's last line follows from the status: 1 for InvalidArgument, 2 for other errors, whose
  // message is sent.
  virtual absl::Status Run(absl::string_view verb, absl::string_view argument, Reply reply) = 0;
  // Does the work that is due, and returns the time of the next call. Also called after each
  // request and each Wake.
  virtual absl::Time RunDueWork() = 0;
  // The first two calls on the control thread: its kernel id, and the server.
  virtual void ThreadStarted(pid_t tid) = 0;
  virtual void UseServer(Server&) {}
  // On the clients' thread, before anything else.
  virtual void ClientsThreadStarted(pid_t) {}
};

// Lets `commands` carry out a request, and finishes its answer, even if `commands` throws. Calls
// `wake` when there is something to send.
void CarryOut(const Request& request, Commands& commands, absl::FunctionRef<void()> wake);

class Server {
 public:
  // Starts the threads. If it cannot listen (see `problem`), deadlines are still kept. The threads
  // do not end before the process, so the server is never freed and `commands` must live forever,
  // even if this throws std::bad_alloc, because a thread may run by then.
  static Server& Start(Commands& commands, std::string folder, std::string path,
                       const Limits& limits = {});
  static Server& StartWithoutSocket(Commands& commands);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Why clients cannot connect, or why deadlines are not kept; OK if there is no problem.
  const absl::Status& problem() const { return problem_; }
  // Makes the control thread call Tick soon. Any thread.
  void Wake() { queue_.Wake(); }
  // On the control thread, within a request or Tick: waits that long and keeps the deadlines.
  // Returns early after it has carried out one request that `accepts` accepts. False: another
  // request waits.
  bool Pause(absl::Duration time, RequestQueue::Accepts accepts);
  // Clients can no longer connect. Any thread; the server's threads continue.
  void Close();

 private:
  explicit Server(Commands& commands) : commands_(commands) {}
  absl::Status StartThread();
  void Run();
  // Keeps the deadlines and carries out one request that arrives until then. False: none did.
  bool ServeOne(absl::Time until, RequestQueue::Accepts accepts);

  Commands& commands_;
  AgentThread thread_;
  absl::Status problem_;  // written before a client can be served
  RequestQueue queue_;
  std::unique_ptr<Connections> connections_;  // null: without a socket
};

}  // namespace jtrace::control
