// Tells the sampler which methods are the application's, for stack=app and stack=appframe.
#pragma once

#include <jvmti.h>

#include <string_view>

#include "agent/classfile/scope_filter.h"
#include "agent/hotspot/address_set.h"

namespace jtrace::jvmti {

// Java threads, JVMTI callbacks included.
class AppScope {
 public:
  AppScope(jvmtiEnv* env, classfile::ScopeFilter filter, sampling::AddressSet& methods)
      : env_(env), filter_(std::move(filter)), methods_(methods) {}

  // A class that is prepared. Hidden classes are out of scope: what the JVM makes of lambdas calls
  // methods that are in it.
  void Add(jclass klass);
  // All classes that are loaded.
  void AddLoaded(JNIEnv* jni);

 private:
  bool Includes(std::string_view class_name, bool all, jmethodID method);

  jvmtiEnv* env_;
  const classfile::ScopeFilter filter_;
  sampling::AddressSet& methods_;
};

}  // namespace jtrace::jvmti
