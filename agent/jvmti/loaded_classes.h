// The classes that the JVM has loaded, one by one. Any Java thread, in a LocalFrame: each class is
// a local reference, which ends with the frame.
#pragma once

#include <jvmti.h>

#include <string>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "agent/jvmti/env.h"

namespace jtrace::jvmti {

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

// The loaded subclasses of an interface or an abstract class.

// Binary names of the classes that are assignable to `class_name` ("java.sql.Statement"), including
// itself, if a class of that name is loaded, in any loader, as an interface or an abstract class;
// else none: a class with code has its own methods. Takes some ms. On a Java thread.
absl::flat_hash_set<std::string> ImplementorsOf(jvmtiEnv* env, JNIEnv* jni,
                                                absl::string_view class_name);

}  // namespace jtrace::jvmti
