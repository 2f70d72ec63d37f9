// The class files that other agents installed while jtrace recorded.
//
// A JVM that retransforms a class begins with the class file of the last redefinition. JDK 17 does
// not: after a class was retransformed, it begins with the file of that time, and later
// redefinitions are lost (later JDKs are correct). jtrace retransforms classes to remove its
// probes, and must not undo what a debugger or another agent did meanwhile. So it keeps the file,
// and returns it when the JVM passes an older one. Any Java thread, in ClassFileLoadHook.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/synchronization/mutex.h"

namespace jtrace::jvm {

class RedefinedClasses {
 public:
  // The most bytes of class files that are kept.
  static constexpr size_t kMaxBytes = 16u << 20;

  // Keeps the file that jtrace's hook receives when another agent redefines or retransforms the
  // class (ClassDef.id). False: there is no room for it, and a stop may undo the change.
  bool Add(uint32_t class_id, std::span<const unsigned char> file);
  // Returns the file that jtrace should have received instead of `file` when it retransforms the
  // class; empty: `file` is right.
  std::vector<unsigned char> Current(uint32_t class_id, std::span<const unsigned char> file);
  // Drops the files of unloaded classes.
  void Forget(const absl::flat_hash_set<uint32_t>& classes);
  // Drops the files at the end of a recording, unless this JVM needs them: later changes are not
  // seen.
  void EndRecording();

 private:
  absl::Mutex mutex_;
  absl::flat_hash_map<uint32_t, std::vector<unsigned char>> files_ ABSL_GUARDED_BY(mutex_);
  size_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  bool jvm_forgets_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace jtrace::jvm
