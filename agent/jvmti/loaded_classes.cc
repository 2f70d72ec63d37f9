#include "agent/jvmti/loaded_classes.h"

#include <vector>

#include "agent/base/class_names.h"
#include "agent/jvmti/env.h"

namespace jtrace::jvmti {
namespace {

constexpr jint kInterface = 0x0200;  // JVMS 4.1
constexpr jint kAbstract = 0x0400;

bool IsAbstract(jvmtiEnv* env, jclass klass) {
  jint modifiers = 0;
  return env->GetClassModifiers(klass, &modifiers) == JVMTI_ERROR_NONE &&
         (modifiers & (kInterface | kAbstract)) != 0;
}

}  // namespace

absl::flat_hash_set<std::string> ImplementorsOf(jvmtiEnv* env, JNIEnv* jni,
                                                absl::string_view class_name) {
  absl::flat_hash_set<std::string> names;
  LocalFrame frame(jni);
  jint count = 0;
  Allocated<jclass> classes(env);
  if (env->GetLoadedClasses(&count, classes.out()) != JVMTI_ERROR_NONE) return names;
  std::vector<jclass> types;
  for (jint i = 0; i < count; ++i) {
    if (ClassName(env, classes[i]) == class_name && IsAbstract(env, classes[i])) {
      types.push_back(classes[i]);
    }
  }
  for (const jclass type : types) {
    for (jint i = 0; i < count; ++i) {
      if (jni->IsAssignableFrom(classes[i], type)) names.insert(ClassName(env, classes[i]));
    }
  }
  return names;
}

}  // namespace jtrace::jvmti
