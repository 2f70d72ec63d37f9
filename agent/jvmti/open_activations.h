// The activations of all threads, by method and place.
#pragma once

#include <jvmti.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "agent/jvmti/class_registry.h"
#include "agent/jvmti/thread_registry.h"

namespace jtrace::jvmti {

// An activation that has begun the instruction at `bci` of the method's present code.
struct OpenActivation {
  uint64_t java_tid = 0;  // Thread.getId()
  uint32_t class_id = 0;  // ClassDef.id
  std::string name;
  std::string descriptor;
  uint32_t bci = 0;
};

// Those of methods of these classes, of all platform threads; not those that run code from before a
// redefinition. Thread by thread, innermost first. At a safepoint of their own; on a thread that
// may call JVMTI.
std::vector<OpenActivation> FindOpenActivations(jvmtiEnv* env, JNIEnv* jni, ClassRegistry& registry,
                                                ThreadRegistry& threads,
                                                const absl::flat_hash_set<uint32_t>& classes);

}  // namespace jtrace::jvmti
