// What other agents made of classes while jtrace recorded.
//
// A JVM that retransforms a class begins with the class file that the last redefinition gave it.
// JDK 17 does not: once a class was retransformed, it begins with the file of that time, and what
// was redefined since is lost (later JDKs are right). jtrace retransforms classes to take its
// probes out, and must not take back what a debugger or another agent did meanwhile. So it keeps
// the file, and hands it in where the JVM brings an older one. Any Java thread, in
// ClassFileLoadHook.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"

namespace jtrace::jvmti {

class RedefinedClasses {
 public:
  // More is not kept.
  static constexpr size_t kMaxBytes = 16u << 20;

  // Another agent redefines or retransforms the class (ClassDef.id); `file` is what jtrace's hook
  // is given. False: there is no room for it, and a stop may take it back.
  bool Note(uint32_t class_id, std::span<const unsigned char> file);
  // jtrace retransforms the class and is given `file`. The file that should have been given; empty:
  // this one.
  std::vector<unsigned char> Current(uint32_t class_id, std::span<const unsigned char> file);
  // No recording runs: what happens from here on is not seen.
  void EndRecording();

 private:
  absl::Mutex mutex_;
  absl::flat_hash_map<uint32_t, std::vector<unsigned char>> files_ ABSL_GUARDED_BY(mutex_);
  size_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  bool jvm_forgets_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace jtrace::jvmti
