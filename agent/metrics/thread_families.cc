#include "agent/metrics/thread_families.h"

namespace jtrace::metrics {

void ThreadFamilies::Begin(uint64_t window, uint64_t java_tid) {
  const std::lock_guard lock(mutex_);
  families_[window] = {java_tid, {}};
  count_.store(families_.size(), std::memory_order_release);
}

void ThreadFamilies::End(uint64_t window) {
  const std::lock_guard lock(mutex_);
  families_.erase(window);
  count_.store(families_.size(), std::memory_order_release);
}

void ThreadFamilies::Add(uint64_t window, uint64_t java_tid) {
  const std::lock_guard lock(mutex_);
  const auto found = families_.find(window);
  if (found != families_.end()) found->second.descendants.insert(java_tid);
}

bool ThreadFamilies::Has(uint64_t window, uint64_t java_tid) const {
  const std::lock_guard lock(mutex_);
  const auto found = families_.find(window);
  if (found == families_.end()) return false;
  const Family& family = found->second;
  return java_tid == family.opener || family.descendants.contains(java_tid);
}

std::vector<uint64_t> ThreadFamilies::Descendants(uint64_t window) const {
  const std::lock_guard lock(mutex_);
  const auto found = families_.find(window);
  if (found == families_.end()) return {};
  const auto& descendants = found->second.descendants;
  return {descendants.begin(), descendants.end()};
}

}  // namespace jtrace::metrics
