// One client of the control socket: reads its request, sends its answer, and never waits for it.
// Belongs to the connections' thread.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "agent/base/own_fd.h"
#include "agent/control/answer.h"
#include "agent/control/request_queue.h"

namespace jtrace::control {

// How much clients may use of the program's resources.
struct Limits {
  absl::Duration for_request = absl::Seconds(5);  // from connecting to the end of the line
  absl::Duration for_answer = absl::Seconds(10);  // to read it, once it is complete
  size_t connections = 32;                        // beyond it the oldest idle one is closed
  size_t answer_bytes = size_t{8} << 20;
  size_t all_answers_bytes = size_t{32} << 20;  // that clients have not read yet
};

// Shared by all connections.
struct Service {
  const Limits& limits;
  RequestQueue& queue;
  AnswerMemory& memory;
};

class Connection {
 public:
  Connection(OwnFd fd, absl::Time connected, const Limits& limits)
      : fd_(std::move(fd)), deadline_(connected + limits.for_request) {}

  // Does as much as it can at once. False: it has ended.
  bool Serve(const Service& service, absl::Time now);

  // -1: the program closed it.
  int fd() const { return fd_.IsOurs() ? fd_.get() : -1; }
  // Events to poll for; 0: only for the client's end.
  short PollEvents() const;
  absl::Time deadline() const { return deadline_; }
  // The request is whole.
  bool has_line() const { return has_line_; }
  // The queue had no room for its request.
  bool WaitsForRoom() const { return has_line_ && answer_ == nullptr; }
  bool IsAsked() const { return answer_ != nullptr; }
  // Waits for nothing but its client.
  bool IsIdle() const { return !has_line_ || (answer_ != nullptr && answer_->is_finished()); }

 private:
  bool Read(const Service& service, absl::Time now);
  void Submit(const Service& service);
  void Refuse(const Service& service, const absl::Status& why, absl::Time now);

  OwnFd fd_;
  absl::Time deadline_;
  std::string received_;
  bool has_line_ = false;           // `received_` is the request, without its end
  std::shared_ptr<Answer> answer_;  // null: no request yet
};

}  // namespace jtrace::control
