// The agent's ear: answers the `jtrace` command on a Unix socket, and wakes for the recording's own
// deadlines (duration=, loop=).
//
// One thread, all signals blocked but those of faults, never sampled. It becomes a Java thread only
// while a request needs one. Requests are answered one after the other.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "agent/control/socket_folder.h"

namespace jtrace::control {

// What the requests are about. All calls come from the server's thread.
class Commands {
 public:
  using Tell = absl::FunctionRef<void(char kind, absl::string_view line)>;

  virtual ~Commands() = default;
  // Does what `verb` says; lines go to `tell`. The answer's last line comes of the status: 1 for
  // InvalidArgument, 2 for other errors, whose message is told.
  virtual absl::Status Run(absl::string_view verb, absl::string_view argument, Tell tell) = 0;
  // Called when the time that it last returned has come, and after every request.
  virtual absl::Time Tick() = 0;
  // On the server's thread, before anything else.
  virtual void ThreadStarted(pid_t tid) = 0;
};

class Server {
 public:
  // Starts the thread. If it cannot listen (see `problem`), deadlines are kept all the same.
  // `commands` must live for ever: the thread does not end before the process.
  static std::unique_ptr<Server> Start(Commands& commands, std::string folder, std::string path);
  static std::unique_ptr<Server> StartWithoutSocket(Commands& commands);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Why nobody can connect; OK if they can.
  const absl::Status& problem() const { return problem_; }
  // Tick is to be called soon. Any thread.
  void Wake();
  // Nobody can connect any more. Any thread; the server's thread goes on.
  void Close();

 private:
  Server(Commands& commands, std::string folder, std::string path)
      : commands_(commands), folder_(std::move(folder)), path_(std::move(path)) {}
  absl::Status Listen();
  bool Listens() const { return socket_.ok() && !closed_.load(); }
  void StartThread();
  void Run();
  void WaitUntil(absl::Time deadline);
  void Accept();
  OwnFd AcceptWithReserve();
  void Answer(int connection);

  Commands& commands_;
  const std::string folder_;
  const std::string path_;
  absl::Status problem_;  // constant once the thread runs
  OwnFd socket_;
  OwnFd wake_reader_, wake_writer_;
  OwnFd reserve_;  // given up for a connection when the process has no descriptor left
  std::atomic<bool> closed_{false};
};

// Reads a request's line up to its end, a second of silence or kMaxRequest; "" if there is none.
std::string ReadLine(int connection);

}  // namespace jtrace::control
