// Numbers of class loaders, kept as tags on them, and which loader defined which class.
//
// The boot loader and the platform loader are 0: their classes have distinct names, and the class
// files that call them do not say which of the two it is. Any Java thread, in any callback that may
// call JVMTI. Runs Java code only in FindPlatformLoader.
#pragma once

#include <jvmti.h>

#include <atomic>
#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "agent/trace/definition_table.h"

namespace jtrace::jvm {

class LoaderIds {
 public:
  LoaderIds(JavaVM* vm, jvmtiEnv* env) : vm_(vm), env_(env) {}

  // Finds the platform loader, and how to get a loader's parent. Call it before the first number is
  // assigned, on a thread that may run Java code.
  void FindPlatformLoader(JNIEnv* jni);

  // Returns the loader's number, a new one if it has none. Null is the boot loader.
  uint32_t Of(jobject loader);

  // Adds a class that `loader` has defined.
  void AddClassName(absl::string_view binary_name, uint32_t loader);
  // Forgets classes and loaders that were unloaded.
  void Forget(absl::Span<const trace::ForgottenClass> classes,
              const absl::flat_hash_set<uint32_t>& loaders);
  // Returns the loader of the class that code of loader `from` means by `binary_name`: the only
  // loader that has such a class; of several, `from` or its nearest ancestor that has one.
  // `unknown` if there is none, for example because the class is not loaded yet.
  uint32_t ResolveLoader(absl::string_view binary_name, uint32_t from, uint32_t unknown) const;

 private:
  uint32_t ParentOf(jobject loader);
  uint64_t KeyOf(absl::string_view binary_name, uint32_t loader) const;

  JavaVM* const vm_;
  jvmtiEnv* const env_;
  std::atomic<uint32_t> next_{1};
  std::atomic<jfieldID> parent_field_{nullptr};
  mutable absl::Mutex mutex_;
  // A loader's number to its parent's.
  absl::flat_hash_map<uint32_t, uint32_t> parents_ ABSL_GUARDED_BY(mutex_);
  // Keys are hashes of names: a collision only causes a wrong guess.
  struct Definers {
    uint32_t count = 0;
    uint32_t only = 0;  // the loader, unless had_more
    bool had_more = false;
  };
  absl::flat_hash_map<uint64_t, Definers> definers_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_set<uint64_t> defined_ ABSL_GUARDED_BY(mutex_);  // KeyOf
};

// Meaning of the JVMTI object tags that the agent sets: numbers of class loaders, and of classes
// whose unloading ObjectFree reports.
enum class TagKind : jlong { kLoader = 1, kClass = 2 };

inline constexpr int kTagShift = 2;

inline jlong MakeTag(TagKind kind, uint32_t number) {
  return (static_cast<jlong>(number) << kTagShift) | static_cast<jlong>(kind);
}
inline bool IsTag(jlong tag, TagKind kind) { return (tag & 3) == static_cast<jlong>(kind); }
inline uint32_t TagNumber(jlong tag) { return static_cast<uint32_t>(tag >> kTagShift); }

}  // namespace jtrace::jvm
