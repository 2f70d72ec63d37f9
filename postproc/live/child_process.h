// A child process whose output arrives while this process, which has one thread, does other things.
#pragma once

#include <sys/types.h>

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace jtrace::live {

class ChildProcess {
 public:
  static constexpr size_t kMostOutput = size_t{256} << 20;

  struct Result {
    int exit_code = 0;  // 128 + N: signal N ended it
    std::string out;
    std::string err;
  };
  using Done = std::function<void(const Result&)>;

  // `body` runs in the child, with stdout and stderr led here; its value is the exit code, unless
  // it executes another program. `done` is called in `context`, not before this returns.
  // Unavailable if there is no process or no descriptor.
  static absl::StatusOr<std::unique_ptr<ChildProcess>> Start(boost::asio::io_context& context,
                                                             const std::function<int()>& body,
                                                             Done done);
  // Ends the child; `done` is then not called.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

 private:
  struct Stream {
    boost::asio::posix::stream_descriptor descriptor;
    std::string text;
    std::array<char, 65536> buffer;
  };
  using Streams = std::array<std::unique_ptr<Stream>, 2>;

  ChildProcess(pid_t pid, Streams streams, Done done);
  void Read(size_t which);
  void End();

  pid_t pid_;
  Streams streams_;
  Done done_;
  size_t open_ = 2;
};

}  // namespace jtrace::live
