// Lists loaded classes, says of what kind they are, and retransforms them. Any Java thread, in a
// LocalFrame: each listed class is a local reference, which ends with the frame.
#pragma once

#include <jvmti.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "agent/jvm/jvmti_calls.h"

namespace jtrace::jvm {

// Calls `visit` for every loaded class, including arrays and primitive types; for none if the JVM
// does not list them.
template <typename Visit>
void ForEachLoaded(jvmtiEnv* env, Visit visit) {
  jint count = 0;
  Allocated<jclass> classes(env);
  if (env->GetLoadedClasses(&count, classes.out()) != JVMTI_ERROR_NONE) return;
  for (jint i = 0; i < count; ++i) visit(classes[i]);
}

// Whether agents may change the class. Hidden classes and arrays cannot be changed.
inline bool IsModifiable(jvmtiEnv* env, jclass klass) {
  jboolean modifiable = JNI_FALSE;
  return env->IsModifiableClass(klass, &modifiable) == JVMTI_ERROR_NONE && modifiable == JNI_TRUE;
}

// Whether the class is linked: code of an unlinked class has never run.
inline bool IsPrepared(jvmtiEnv* env, jclass klass) {
  jint status = 0;
  return env->GetClassStatus(klass, &status) == JVMTI_ERROR_NONE &&
         (status & JVMTI_CLASS_STATUS_PREPARED) != 0;
}

// Whether the class's initialiser has failed: the JVM links it no more, and lets nobody change it.
// Its static methods and constructors never run again.
inline bool HasFailed(jvmtiEnv* env, jclass klass) {
  jint status = 0;
  return env->GetClassStatus(klass, &status) == JVMTI_ERROR_NONE &&
         (status & JVMTI_CLASS_STATUS_ERROR) != 0;
}

// Returns the binary names of the loaded classes that are assignable to `class_name`
// ("java.sql.Statement"), itself included. Returns none unless a loaded class of that name, in any
// loader, is an interface or abstract: another class has its own methods. Takes some ms.
absl::flat_hash_set<std::string> ImplementorsOf(jvmtiEnv* env, JNIEnv* jni,
                                                absl::string_view class_name);

// Retransformation passes classes through the class-file hooks again, to add or remove probes.
//
// The JVM stops all threads to swap the code of the classes in one call, and discards compiled code
// that depends on any of them. So batches are large: what is compiled between two of them is often
// lost again with the second. Retransform may take seconds; recording/class_batches does the same
// with pauses, in a running program.

// A class that the JVM did not retransform, and JVMTI's error.
struct RefusedClass {
  jclass klass = nullptr;
  jvmtiError error = JVMTI_ERROR_NONE;
};

// The classes that were retransformed and those that were not.
struct RetransformResult {
  size_t done = 0;
  std::vector<RefusedClass> refused;  // unchanged
};

// Retransforms all `classes`, one batch right after the other.
RetransformResult Retransform(jvmtiEnv* env, std::span<const jclass> classes);
// Retransforms `classes` in one call of JVMTI, or in more if the JVM refuses some of them.
RetransformResult RetransformBatch(jvmtiEnv* env, std::span<const jclass> classes);

// Whether the calling thread is in Retransform or RetransformBatch. In a class-file hook: whether
// jtrace itself has caused it.
bool IsRetransforming();

// Returns the number of classes of the next batch, after one of `size` classes took `time`.
size_t NextBatchSize(size_t size, absl::Duration time);

}  // namespace jtrace::jvm
