#include "agent/control/request_queue.h"

#include <algorithm>
#include <utility>

namespace jtrace::control {

bool RequestQueue::Add(Request& request) {
  const std::lock_guard lock(mutex_);
  if (requests_.size() >= kMaxRequests) return false;
  requests_.push_back(std::move(request));
  changed_.notify_one();
  return true;
}

std::optional<Request> RequestQueue::Next(absl::Time until) {
  return Next(until, [](absl::string_view) { return true; });
}

std::optional<Request> RequestQueue::Next(absl::Time until, Accepts accepts) {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, absl::ToChronoTime(until),
                      [this] { return !requests_.empty() || woken_; });
  woken_ = false;
  const auto found = std::find_if(requests_.begin(), requests_.end(),
                                  [&](const Request& request) { return accepts(request.line); });
  if (found == requests_.end()) return std::nullopt;
  Request next = std::move(*found);
  requests_.erase(found);
  return next;
}

bool RequestQueue::HasAny() {
  const std::lock_guard lock(mutex_);
  return !requests_.empty();
}

void RequestQueue::Wake() {
  const std::lock_guard lock(mutex_);
  woken_ = true;
  changed_.notify_one();
}

}  // namespace jtrace::control
