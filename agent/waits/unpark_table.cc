#include "agent/waits/unpark_table.h"

#include <utility>

namespace jtrace::waits {

void UnparkTable::Note(uint64_t target, const Unpark& unpark) {
  Part& part = PartOf(target);
  absl::MutexLock lock(&part.mutex);
  if (part.unparks.size() >= kMostInPart) part.unparks.clear();
  part.unparks.try_emplace(target, unpark);
}

std::optional<Unpark> UnparkTable::Take(uint64_t target) {
  Part& part = PartOf(target);
  absl::MutexLock lock(&part.mutex);
  const auto found = part.unparks.find(target);
  if (found == part.unparks.end()) return std::nullopt;
  Unpark unpark = std::move(found->second);
  part.unparks.erase(found);
  return unpark;
}

void UnparkTable::Clear() {
  for (Part& part : parts_) {
    absl::MutexLock lock(&part.mutex);
    part.unparks.clear();
  }
}

}  // namespace jtrace::waits
