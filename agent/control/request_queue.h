// Requests on their way from the connections' thread to the control thread.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "agent/control/answer.h"

namespace jtrace::control {

// A client's line, and where its answer goes.
struct Request {
  std::string line;  // without its end
  std::shared_ptr<Answer> answer;
};

// Bounded: a request that finds no room waits in its connection. Any thread.
class RequestQueue {
 public:
  // False if there is no room; `request` is then unchanged.
  bool Add(Request& request);
  using Accepts = absl::FunctionRef<bool(absl::string_view line)>;
  // The oldest request; none if there is none by then, or once Wake was called.
  std::optional<Request> Next(absl::Time until);
  // The same of those whose line is accepted; none, too, once there is only another one.
  std::optional<Request> Next(absl::Time until, Accepts accepts);
  // Whether requests wait.
  bool HasAny();
  void Wake();

 private:
  static constexpr size_t kMaxRequests = 16;

  std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  std::deque<Request> requests_;
  bool woken_ = false;
};

}  // namespace jtrace::control
