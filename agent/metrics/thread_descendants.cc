#include "agent/metrics/thread_descendants.h"

#include "agent/metrics/counter_numbers.h"

namespace jtrace::metrics {

void ThreadDescendants::Begin(uint64_t window, uint64_t java_tid) {
  const std::lock_guard lock(mutex_);
  families_[window].opener = java_tid;
  count_.store(families_.size(), std::memory_order_release);
}

void ThreadDescendants::End(uint64_t window) {
  const std::lock_guard lock(mutex_);
  families_.erase(window);
  count_.store(families_.size(), std::memory_order_release);
}

void ThreadDescendants::Add(uint64_t window, uint64_t java_tid) {
  const std::lock_guard lock(mutex_);
  const auto found = families_.find(window);
  if (found == families_.end()) return;
  found->second.descendants.insert(java_tid);
  found->second.running.insert(java_tid);
}

void ThreadDescendants::Leave(uint64_t java_tid, const Values& totals) {
  const std::lock_guard lock(mutex_);
  for (auto& [window, family] : families_) {
    if (family.running.erase(java_tid) == 0) continue;
    for (size_t i = 0; i < totals.size(); ++i)
      family.ended[i] = WrapAdd(family.ended[i], totals[i]);
  }
}

bool ThreadDescendants::Has(uint64_t window, uint64_t java_tid) const {
  const std::lock_guard lock(mutex_);
  const auto found = families_.find(window);
  if (found == families_.end()) return false;
  const Family& family = found->second;
  return java_tid == family.opener || family.descendants.contains(java_tid);
}

ThreadDescendants::Descendants ThreadDescendants::DescendantsOf(uint64_t window) const {
  const std::lock_guard lock(mutex_);
  const auto found = families_.find(window);
  if (found == families_.end()) return {};
  const Family& family = found->second;
  return {.running = {family.running.begin(), family.running.end()}, .ended = family.ended};
}

}  // namespace jtrace::metrics
