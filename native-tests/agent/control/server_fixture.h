// A server of the control socket with commands that do nothing, and clients.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "agent/control/server.h"
#include "gtest/gtest.h"

namespace jtrace::control {

inline std::string NewFolder() {
  std::string folder = absl::StrCat(::testing::TempDir(), "/controlXXXXXX");
  EXPECT_NE(mkdtemp(folder.data()), nullptr);
  return folder;
}

// Records the requests. The verb selects the answer.
class FakeCommands : public Commands {
 public:
  absl::Status Run(absl::string_view verb, absl::string_view argument, Reply reply) override {
    {
      const std::lock_guard lock(mutex);
      requests.push_back(absl::StrCat(verb, "|", argument));
    }
    while (verb == "hold" && holds) absl::SleepFor(absl::Milliseconds(1));
    if (verb == "pause") {
      const auto accepts = [&](absl::string_view line) { return line != argument; };
      while (holds && used->Pause(absl::Seconds(100), accepts)) {
      }
    }
    if (verb == "much") {
      for (int i = 0; i < kMuchLines; ++i) reply('=', kMuchLine);
      return absl::OkStatus();
    }
    reply('.', "half way");
    reply('=', "first\nsecond");
    if (verb == "wrong") return absl::InvalidArgumentError("no such thing");
    if (verb == "fails") return absl::UnavailableError("cannot");
    return absl::OkStatus();
  }
  absl::Time RunDueWork() override {
    ++ticks;
    return absl::Now() + period;
  }
  void ThreadStarted(pid_t tid) override { thread = tid; }
  void UseServer(Server& server) override { used = &server; }
  void ClientsThreadStarted(pid_t tid) override { clients_thread = tid; }

  // More than the kernel keeps for a client that does not read.
  static constexpr int kMuchLines = 2000;
  // Not destroyed at exit: the threads run on.
  static inline const std::string& kMuchLine = *new std::string(1000, 'm');

  Server* used = nullptr;
  std::mutex mutex;
  std::vector<std::string> requests;
  std::atomic<int> ticks{0};
  std::atomic<pid_t> thread{0}, clients_thread{0};
  std::atomic<bool> holds{true};
  absl::Duration period = absl::Hours(1);
};

inline int Connect(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0) return fd;
  close(fd);
  return -1;
}

// Everything that arrives until the server closes the connection.
inline std::string ReadAnswer(int fd) {
  std::string answer;
  char buffer[4096];
  for (ssize_t n; (n = read(fd, buffer, sizeof(buffer))) > 0;) {
    answer.append(buffer, static_cast<size_t>(n));
  }
  close(fd);
  return answer;
}

inline int Send(const std::string& path, absl::string_view request) {
  const int fd = Connect(path);
  EXPECT_GE(fd, 0);
  EXPECT_EQ(send(fd, request.data(), request.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(request.size()));
  return fd;
}

inline std::string Ask(const std::string& path, absl::string_view request) {
  return ReadAnswer(Send(path, request));
}

// Servers and the objects they call live as long as the process, as in a JVM.
struct Fixture {
  explicit Fixture(const Limits& limits = {}, absl::Duration period = absl::Hours(1))
      : commands(*MakeCommands(period)), server(Server::Start(commands, folder, path, limits)) {}

  static FakeCommands* MakeCommands(absl::Duration period) {
    auto* const made = new FakeCommands;
    made->period = period;
    return made;
  }
  // Until its thread waits.
  void WaitUntilItListens() const {
    while (commands.ticks == 0) absl::SleepFor(absl::Milliseconds(1));
    absl::SleepFor(absl::Milliseconds(50));
  }
  std::vector<std::string> Requests() const {
    const std::lock_guard lock(commands.mutex);
    return commands.requests;
  }
  void WaitForRequests(size_t count) const {
    while (true) {
      {
        const std::lock_guard lock(commands.mutex);
        if (commands.requests.size() >= count) return;
      }
      absl::SleepFor(absl::Milliseconds(1));
    }
  }

  std::string folder = NewFolder() + "/own";
  std::string path = folder + "/42";
  FakeCommands& commands;
  Server& server;
};

}  // namespace jtrace::control
