// The answer to one request: the control thread adds lines, the clients' thread sends them.
//
// The two threads do not wait for the client. Unread output is kept up to a limit and dropped
// beyond it, so that a client that never reads costs only a bounded amount of the program's memory.
#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace jtrace::control {

// Bytes that all clients together have not read yet. Any thread.
class AnswerMemory {
 public:
  explicit AnswerMemory(size_t most) : most_(most) {}
  // Takes room; false: there is not enough.
  bool Reserve(size_t bytes);
  void Release(size_t bytes) { used_.fetch_sub(bytes, std::memory_order_relaxed); }

 private:
  const size_t most_;
  std::atomic<size_t> used_{0};
};

// Thread-safe.
class Answer {
 public:
  // The answer has at most `most` bytes, and at most the room in `memory`.
  Answer(size_t most, AnswerMemory& memory) : most_(most), memory_(memory) {}
  ~Answer();
  Answer(const Answer&) = delete;
  Answer& operator=(const Answer&) = delete;

  // Adds the lines of `text`, each with its kind (proto/control_protocol.h). Leaves progress out
  // while the client has not read the lines before it.
  void Add(char kind, absl::string_view text);
  // Adds the result and the exit code. A truncated answer is an error whatever `status` is.
  void Finish(const absl::Status& status);

  // Sends as much as the connection accepts at once. False: the client has disconnected.
  bool SendTo(int connection);
  // Whether there is something to send.
  bool has_unsent() const;
  // Whether nothing more will be added, and all is sent.
  bool is_sent() const;
  bool is_finished() const;

 private:
  bool AddLine(char kind, absl::string_view line);

  const size_t most_;
  AnswerMemory& memory_;
  mutable std::mutex mutex_;  // guards the members below
  std::string unsent_;
  size_t sent_ = 0;   // of unsent_
  size_t added_ = 0;  // in total, without progress
  size_t taken_ = 0;  // from memory_
  bool is_cut_ = false;
  bool is_finished_ = false;
};

}  // namespace jtrace::control
