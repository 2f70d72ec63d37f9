// Requests on their way from the clients' thread to the control thread.
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
  std::string line;  // without its line feed
  std::shared_ptr<Answer> answer;
};

// Bounded: a request that finds no room waits in its connection. Any thread.
class RequestQueue {
 public:
  // False if there is no room; `request` is then unchanged.
  bool Add(Request& request);
  using Accepts = absl::FunctionRef<bool(absl::string_view line)>;
  // Waits for a request. Returns the oldest; nullopt if `until` has passed or Wake was called.
  std::optional<Request> Next(absl::Time until);
  // The same for requests that `accepts` accepts; also nullopt once there are only others.
  std::optional<Request> Next(absl::Time until, Accepts accepts);
  // Whether a request waits.
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
