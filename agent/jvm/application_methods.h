// Registers the application's methods with the sampler, for stack=app and stack=appframe.
#pragma once

#include <jvmti.h>

#include <string_view>

#include "agent/jvm/class_registry.h"
#include "agent/jvm/hotspot/address_set.h"
#include "common/scope_filter.h"

namespace jtrace::jvm {

// Called on Java threads, also in JVMTI callbacks.
class ApplicationMethods {
 public:
  ApplicationMethods(jvmtiEnv* env, const ClassRegistry& classes, classfile::ScopeFilter filter,
                     AddressSet& methods)
      : env_(env), classes_(classes), filter_(std::move(filter)), methods_(methods) {}

  // Adds the methods in scope of a prepared class. Hidden classes are out of scope: the JVM's
  // classes for lambdas call methods that are in scope.
  void Add(jclass klass);
  // Adds the methods in scope of all loaded classes.
  void AddLoaded(JNIEnv* jni);

 private:
  bool Includes(std::string_view class_name, bool all, jmethodID method);

  jvmtiEnv* env_;
  const ClassRegistry& classes_;
  const classfile::ScopeFilter filter_;
  AddressSet& methods_;
};

}  // namespace jtrace::jvm
