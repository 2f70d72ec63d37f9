#include "agent/control/request_queue.h"

#include <utility>

namespace jtrace::control {

bool RequestQueue::Add(Request& request) {
  const std::lock_guard lock(mutex_);
  if (requests_.size() >= kMost) return false;
  requests_.push_back(std::move(request));
  changed_.notify_one();
  return true;
}

std::optional<Request> RequestQueue::Next(absl::Time until) {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, absl::ToChronoTime(until),
                      [this] { return !requests_.empty() || woken_; });
  woken_ = false;
  if (requests_.empty()) return std::nullopt;
  Request next = std::move(requests_.front());
  requests_.pop_front();
  return next;
}

void RequestQueue::Wake() {
  const std::lock_guard lock(mutex_);
  woken_ = true;
  changed_.notify_one();
}

}  // namespace jtrace::control
