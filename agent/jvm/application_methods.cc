#include "agent/jvm/application_methods.h"

#include "agent/jvm/jvmti_calls.h"

namespace jtrace::jvm {
namespace {

using ClassScope = classfile::ScopeFilter::ClassScope;

}  // namespace

void ApplicationMethods::Add(jclass klass) {
  Allocated<char> signature(env_);
  if (env_->GetClassSignature(klass, signature.out(), nullptr) != JVMTI_ERROR_NONE) return;
  std::string_view name = signature.get();
  if (!name.starts_with('L') || IsHiddenSignature(signature.get())) return;
  name = name.substr(1, name.size() - 2);
  const ClassScope scope = filter_.ScopeOf(name);
  if (scope == ClassScope::kNone) return;
  const bool all = scope == ClassScope::kAllMethods;
  // A frame has the Method if that has no jmethodID, or if ids are numbers (since JDK 26).
  classes_.ForEachMethod(klass, [&](const NamedMethod& it) {
    const std::string_view method(it.name.data(), it.name.size());
    if (all || filter_.Includes(name, method)) methods_.Add(it.method);
  });
  jint count = 0;
  Allocated<jmethodID> methods(env_);
  if (env_->GetClassMethods(klass, &count, methods.out()) != JVMTI_ERROR_NONE) return;
  for (jint i = 0; i < count; ++i) {
    if (Includes(name, all, methods[i])) {
      methods_.Add(reinterpret_cast<uintptr_t>(methods[i]));
    }
  }
}

bool ApplicationMethods::Includes(std::string_view class_name, bool all, jmethodID method) {
  if (all) return true;
  Allocated<char> name(env_);
  return env_->GetMethodName(method, name.out(), nullptr, nullptr) == JVMTI_ERROR_NONE &&
         filter_.Includes(class_name, name.get());
}

void ApplicationMethods::AddLoaded(JNIEnv* jni) {
  LocalFrame frame(jni);
  jint count = 0;
  Allocated<jclass> classes(env_);
  if (env_->GetLoadedClasses(&count, classes.out()) != JVMTI_ERROR_NONE) return;
  for (jint i = 0; i < count; ++i) Add(classes[i]);
}

}  // namespace jtrace::jvm
