// What the live page shows: made anew while someone looks at it, and kept when the JVM has ended.
#pragma once

#include <sys/types.h>

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace jtrace::live {

// A child process whose output arrives while this process, which has one thread, does other things.
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

inline constexpr int kNoRecording = 3;  // an exit code

// Where data comes from. The first and the last run in child processes, so that a JVM that hangs
// and a large trace do not keep the page from being served.
struct LiveSource {
  // Has the JVM write what it has recorded, and writes its answer to stdout; kNoRecording: there is
  // none.
  std::function<int()> flush;
  // Opens the trace that the answer names. It stays open: it is read once more when the JVM has
  // ended.
  std::function<absl::Status(std::string_view answer)> open;
  // Writes the page of that trace to stdout.
  std::function<int()> report;
};

struct LiveState {
  enum class Phase {
    kLive,     // recording
    kStopped,  // the JVM runs and does not record, or does not answer
    kEnded,    // the JVM has ended
  };
  Phase phase = Phase::kLive;
  std::string message;        // one line, if something is not as it should be
  bool has_recording = true;  // false: the JVM said that none runs
  uint64_t serial = 0;        // of the data; 0: there is none yet
  std::string data;           // base64 of gzip of JSON
  std::chrono::steady_clock::time_point made;
  std::chrono::milliseconds cost{0};  // the time that making it took
};

// The rest after a refresh that took `cost`: at least a second, and so long that refreshes take at
// most a fifth of the time; at most a minute, because a JVM that was stopped may go on.
std::chrono::milliseconds RestAfter(std::chrono::milliseconds cost);

// On one thread, that of the context.
class LiveData {
 public:
  using Ready = std::function<void()>;

  using Clock = std::function<std::chrono::steady_clock::time_point()>;

  LiveData(boost::asio::io_context& context, LiveSource source,
           Clock now = std::chrono::steady_clock::now)
      : context_(context), timer_(context), source_(std::move(source)), now_(std::move(now)) {}

  // Calls `ready` after the next refresh, which begins when the rest after the last one is over.
  // Without such calls nothing is read. When the JVM has ended and all is read: at once.
  void WhenRefreshed(Ready ready);
  // Whether there is data that is not to be made anew yet.
  bool IsFresh() const;
  // The JVM has ended: reads the whole trace a last time.
  void JvmEnded();
  const LiveState& state() const { return state_; }

 private:
  void Schedule();
  void Begin();
  void Run(const std::function<int()>& body, void (LiveData::*then)(const ChildProcess::Result&));
  void Flushed(const ChildProcess::Result& result);
  void Report();
  void Reported(const ChildProcess::Result& result);
  void Finish();
  // The JVM has ended, and all is read.
  bool IsOver() const;

  boost::asio::io_context& context_;
  boost::asio::steady_timer timer_;
  LiveSource source_;
  const Clock now_;
  LiveState state_;
  std::vector<Ready> waiting_;
  std::unique_ptr<ChildProcess> child_;
  // Of the refresh that runs.
  LiveState::Phase phase_ = LiveState::Phase::kLive;
  std::string message_;
  std::chrono::steady_clock::time_point begun_;
  std::chrono::steady_clock::time_point next_;
  bool has_ended_ = false;
  bool is_complete_ = false;  // the trace was read after its recording had ended
  bool is_open_ = false;      // there is a trace
};

}  // namespace jtrace::live
