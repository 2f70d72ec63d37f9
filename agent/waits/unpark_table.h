// Who gave a thread the permit with which its next park ends (LockSupport.unpark).
//
// A thread has one permit at most: the first unpark since its last park counts, the others change
// nothing. Any thread; a lock for each part of the threads.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "agent/waits/wait_parts.h"

namespace jtrace::waits {

class UnparkTable {
 public:
  // Of threads that never park again an entry stays until its part is full, and then cleared: their
  // parks have an unknown end.
  static constexpr size_t kParts = 64;
  static constexpr size_t kMostInPart = 1024;

  // The thread `target` is about to be unparked.
  void Note(uint64_t target, const Unpark& unpark);
  // Its park has ended: who unparked it; none: no one.
  std::optional<Unpark> Take(uint64_t target);
  void Clear();

 private:
  struct Part {
    absl::Mutex mutex;
    absl::flat_hash_map<uint64_t, Unpark> unparks ABSL_GUARDED_BY(mutex);
  };
  Part& PartOf(uint64_t target) { return parts_[target % kParts]; }

  std::array<Part, kParts> parts_;
};

}  // namespace jtrace::waits
