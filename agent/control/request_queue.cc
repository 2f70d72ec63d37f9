#include "agent/control/request_queue.h"

#include <utility>

namespace jtrace::control {

bool RequestQueue::Add(Request& request) {
  const absl::MutexLock lock(&mutex_);
  if (requests_.size() >= kMost) return false;
  requests_.push_back(std::move(request));
  changed_.Signal();
  return true;
}

std::optional<Request> RequestQueue::Next(absl::Time until) {
  const absl::MutexLock lock(&mutex_);
  while (requests_.empty() && !woken_) {
    if (changed_.WaitWithDeadline(&mutex_, until)) break;
  }
  woken_ = false;
  if (requests_.empty()) return std::nullopt;
  Request next = std::move(requests_.front());
  requests_.pop_front();
  return next;
}

void RequestQueue::Wake() {
  const absl::MutexLock lock(&mutex_);
  woken_ = true;
  changed_.Signal();
}

}  // namespace jtrace::control
