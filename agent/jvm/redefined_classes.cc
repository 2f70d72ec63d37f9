#include "agent/jvm/redefined_classes.h"

#include <algorithm>

namespace jtrace::jvm {

bool RedefinedClasses::Add(uint32_t class_id, std::span<const unsigned char> file) {
  absl::MutexLock lock(&mutex_);
  std::vector<unsigned char>& kept = files_[class_id];
  bytes_ -= kept.size();
  if (bytes_ + file.size() > kMaxBytes) {
    files_.erase(class_id);
    return false;
  }
  kept.assign(file.begin(), file.end());
  bytes_ += kept.size();
  return true;
}

std::vector<unsigned char> RedefinedClasses::Current(uint32_t class_id,
                                                     std::span<const unsigned char> file) {
  absl::MutexLock lock(&mutex_);
  const auto found = files_.find(class_id);
  if (found == files_.end()) return {};
  if (std::equal(file.begin(), file.end(), found->second.begin(), found->second.end())) return {};
  jvm_forgets_ = true;
  return found->second;
}

void RedefinedClasses::Forget(const absl::flat_hash_set<uint32_t>& classes) {
  absl::MutexLock lock(&mutex_);
  absl::erase_if(files_, [&](const auto& kept) {
    if (!classes.contains(kept.first)) return false;
    bytes_ -= kept.second.size();
    return true;
  });
}

void RedefinedClasses::EndRecording() {
  absl::MutexLock lock(&mutex_);
  // A JVM that does not forget returns the right file itself, even after unseen redefinitions.
  if (jvm_forgets_) return;
  files_.clear();
  bytes_ = 0;
}

}  // namespace jtrace::jvm
