// The jar or folder that each class comes from. ClassFileLoadHook passes the protection domain,
// from which the location is read. The class's record, made when it is prepared, takes the location
// from here. Any Java thread. Only FindFields runs Java code.
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

class ClassLocations {
 public:
  // Locations of classes that are never linked or defined would stay: at this number all are
  // dropped.
  static constexpr size_t kMaxWaiting = 65'536;
  static constexpr size_t kLongest = 4096;  // bytes of a location

  // A recording begins: finds the fields to read. On a thread that may run Java code.
  void FindFields(JNIEnv* jni);
  // A class is about to be defined. `domain`: null for classes of the boot loader.
  void Add(JNIEnv* jni, absl::string_view binary_name, uint32_t loader, jobject domain);
  // Returns and forgets the location, "/usr/share/java/fop.jar" or "jrt:/java.sql"; "": unknown.
  std::string Remove(absl::string_view binary_name, uint32_t loader);

 private:
  // Returns "" if the fields are unknown or null.
  std::string LocationOf(JNIEnv* jni, jobject domain) const;

  std::atomic<jfieldID> code_source_{nullptr};  // of ProtectionDomain
  std::atomic<jfieldID> location_{nullptr};     // of CodeSource
  std::atomic<jfieldID> protocol_{nullptr};     // of URL
  std::atomic<jfieldID> file_{nullptr};         // of URL
  absl::Mutex mutex_;
  // By the hash of name and loader: a collision only causes a wrong location.
  absl::flat_hash_map<uint64_t, std::string> waiting_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace jtrace::jvm
