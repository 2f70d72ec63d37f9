#include "agent/calls/instrument/rewritten_classes.h"

namespace jtrace::calls {

void RewrittenClasses::Add(uint32_t class_id, bool in_scope) {
  const absl::MutexLock lock(&mutex_);
  with_probes_.insert(class_id);
  if (in_scope) counted_.insert(class_id);
}

bool RewrittenClasses::Contains(uint32_t class_id) const {
  const absl::MutexLock lock(&mutex_);
  return with_probes_.contains(class_id);
}

size_t RewrittenClasses::size() const {
  const absl::MutexLock lock(&mutex_);
  return with_probes_.size();
}

absl::flat_hash_set<uint32_t> RewrittenClasses::counted() const {
  const absl::MutexLock lock(&mutex_);
  return counted_;
}

void RewrittenClasses::RemoveProbes(uint32_t class_id) {
  const absl::MutexLock lock(&mutex_);
  with_probes_.erase(class_id);
}

void RewrittenClasses::Remove(uint32_t class_id) {
  const absl::MutexLock lock(&mutex_);
  with_probes_.erase(class_id);
  counted_.erase(class_id);
}

void RewrittenClasses::Forget(const absl::flat_hash_set<uint32_t>& classes) {
  const absl::MutexLock lock(&mutex_);
  for (const uint32_t class_id : classes) {
    with_probes_.erase(class_id);
    counted_.erase(class_id);
  }
  absl::erase_if(leaves_, [&](const auto& leaf) { return classes.contains(leaf.second); });
}

void RewrittenClasses::SetLeaves(uint32_t class_id, const classfile::RewriteResult& result) {
  const absl::MutexLock lock(&mutex_);
  for (const classfile::MethodOutcome& outcome : result.methods) {
    if (!outcome.probed) continue;
    // Another agent may have turned a leaf into a non-leaf, or the reverse.
    if (outcome.is_leaf) {
      leaves_[outcome.id] = class_id;
    } else {
      leaves_.erase(outcome.id);
    }
  }
}

bool RewrittenClasses::IsLeaf(uint32_t routine) const {
  const absl::MutexLock lock(&mutex_);
  return leaves_.contains(routine);
}

}  // namespace jtrace::calls
