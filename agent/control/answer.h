// What is said to one request: the control thread adds lines, the connections' thread sends them.
//
// Neither waits for the client. What it does not take is kept up to a limit and left out beyond it,
// so that a client that never reads costs a bounded amount of the program's memory and nothing
// else.
#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace jtrace::control {

// Bytes that all clients together have not taken yet. Any thread.
class AnswerMemory {
 public:
  explicit AnswerMemory(size_t most) : most_(most) {}
  // False: there is no room for so many.
  bool Take(size_t bytes);
  void Give(size_t bytes) { used_.fetch_sub(bytes, std::memory_order_relaxed); }

 private:
  const size_t most_;
  std::atomic<size_t> used_{0};
};

// Thread-safe.
class Answer {
 public:
  // At most `most` bytes, and what `memory` has.
  Answer(size_t most, AnswerMemory& memory) : most_(most), memory_(memory) {}
  ~Answer();
  Answer(const Answer&) = delete;
  Answer& operator=(const Answer&) = delete;

  // The lines of `text`, each with its kind (proto/control_protocol.h). How far the work has come
  // is left out while the client has not taken what was said before.
  void Add(char kind, absl::string_view text);
  // What came out, and the exit code. An answer that was cut is an error whatever `status` is.
  void Finish(const absl::Status& status);

  // Sends what is there as far as the connection takes it at once. False: the client is gone.
  bool SendTo(int connection);
  // Whether there is something to send.
  bool has_unsent() const;
  // Whether nothing more will come, and all is sent.
  bool is_sent() const;
  bool is_finished() const;

 private:
  bool AddLine(char kind, absl::string_view line);

  const size_t most_;
  AnswerMemory& memory_;
  mutable std::mutex mutex_;  // guards what follows
  std::string unsent_;
  size_t sent_ = 0;   // of unsent_
  size_t added_ = 0;  // in all, but for progress
  size_t taken_ = 0;  // from memory_
  bool is_cut_ = false;
  bool is_finished_ = false;
};

}  // namespace jtrace::control
