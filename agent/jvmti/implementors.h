// The loaded classes behind an interface or an abstract class.
#pragma once

#include <jvmti.h>

#include <string>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"

namespace jtrace::jvmti {

// Binary names of the classes that are assignable to `class_name` ("java.sql.Statement"), itself
// included, if that is loaded, in any loader, as an interface or an abstract class; else none: the
// methods of a class with code are its own. Some ms. On a Java thread.
absl::flat_hash_set<std::string> ImplementorsOf(jvmtiEnv* env, JNIEnv* jni,
                                                absl::string_view class_name);

}  // namespace jtrace::jvmti
