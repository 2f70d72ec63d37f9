#include "agent/jvm/unloaded_classes.h"

#include <algorithm>

namespace jtrace::jvm {
namespace {

// Fewer of them are not worth a pass.
constexpr size_t kMinBatch = 500;

void MoveTo(UnloadedClasses::Batch& into, UnloadedClasses::Batch from) {
  into.classes.merge(from.classes);
  into.loaders.merge(from.loaders);
}

}  // namespace

void UnloadedClasses::AddClass(uint32_t class_id) {
  std::lock_guard lock(mutex_);
  fresh_.classes.insert(class_id);
}

void UnloadedClasses::AddLoader(uint32_t loader) {
  std::lock_guard lock(mutex_);
  fresh_.loaders.insert(loader);
}

void UnloadedClasses::Age() {
  MoveTo(releasable_, std::exchange(waiting_, {}));
  std::lock_guard lock(mutex_);
  waiting_ = std::exchange(fresh_, {});
}

void UnloadedClasses::ForgetNow() {
  Age();
  if (releasable_.size() > 0) known_ = forget_(std::exchange(releasable_, {}));
}

void UnloadedClasses::AddChanges(uint64_t, proto::Chunk&) {
  if (is_behind_()) return;
  Age();
  // An eighth, so that the work for each class is bounded however many are loaded.
  if (releasable_.size() < std::max(kMinBatch, known_ / 8)) return;
  known_ = forget_(std::exchange(releasable_, {}));
}

}  // namespace jtrace::jvm
