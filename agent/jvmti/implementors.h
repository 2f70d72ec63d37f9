// The loaded subclasses of an interface or an abstract class.
#pragma once

#include <jvmti.h>

#include <string>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"

namespace jtrace::jvmti {

// Binary names of the classes that are assignable to `class_name` ("java.sql.Statement"), including
// itself, if a class of that name is loaded, in any loader, as an interface or an abstract class;
// else none: a class with code has its own methods. Takes some ms. On a Java thread.
absl::flat_hash_set<std::string> ImplementorsOf(jvmtiEnv* env, JNIEnv* jni,
                                                absl::string_view class_name);

}  // namespace jtrace::jvmti
