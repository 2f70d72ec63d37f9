// The jar or folder that a class comes from: its ClassFileLoadHook has the protection domain, and
// the record that is made when the class is prepared takes it from here. Any Java thread. Runs Java
// code only in FindFields.
#pragma once

#include <jni.h>

#include <atomic>
#include <cstdint>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"

namespace jtrace::jvm {

class ClassSources {
 public:
  // Classes that are never linked, or could not be defined, stay: at so many all is dropped.
  static constexpr size_t kMaxWaiting = 65'536;
  static constexpr size_t kLongest = 4096;  // bytes of a source

  // A recording begins: finds the fields to read; on a thread that may run Java code.
  void FindFields(JNIEnv* jni);
  // A class is about to be defined. The boot loader's have no protection domain.
  void Add(JNIEnv* jni, absl::string_view binary_name, uint32_t loader, jobject domain);
  // "/usr/share/java/fop.jar", "jrt:/java.sql"; empty if it is unknown, and the second time.
  std::string Remove(absl::string_view binary_name, uint32_t loader);

 private:
  // "" if the fields have none.
  std::string SourceOf(JNIEnv* jni, jobject domain) const;

  std::atomic<jfieldID> code_source_{nullptr};  // of ProtectionDomain
  std::atomic<jfieldID> location_{nullptr};     // of CodeSource
  std::atomic<jfieldID> protocol_{nullptr};     // of URL
  std::atomic<jfieldID> file_{nullptr};         // of URL
  absl::Mutex mutex_;
  // By the hash of name and loader: a collision only causes a wrong source.
  absl::flat_hash_map<uint64_t, std::string> waiting_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace jtrace::jvm
