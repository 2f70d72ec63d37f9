#include "agent/jvmti/running_loops.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "agent/classfile/loops.h"
#include "agent/jvmti/env.h"
#include "agent/jvmti/running_stacks.h"

namespace jtrace::jvmti {
namespace {

bool IsInLoop(jvmtiEnv* env, const jvmtiFrameInfo& frame) {
  jint size = 0;
  Allocated<unsigned char> code(env);
  if (frame.location < 0 ||
      env->GetBytecodes(frame.method, &size, code.out()) != JVMTI_ERROR_NONE) {
    return false;
  }
  return classfile::IsInLoop({code.get(), static_cast<size_t>(size)},
                             static_cast<size_t>(frame.location));
}

std::string NameOf(jvmtiEnv* env, jclass owner, jmethodID method) {
  Allocated<char> name(env);
  const std::string class_name = ClassName(env, owner);
  if (class_name.empty() ||
      env->GetMethodName(method, name.out(), nullptr, nullptr) != JVMTI_ERROR_NONE) {
    return "";
  }
  return absl::StrCat(class_name, ".", name.get());
}

}  // namespace

std::vector<std::string> FindRunningLoops(jvmtiEnv* env, JNIEnv* jni,
                                          std::span<const jclass> classes) {
  std::set<std::string> names;
  ForEachRunningStack(env, [&](std::span<const jvmtiFrameInfo> frames) {
    for (const jvmtiFrameInfo& frame : frames) {
      if (!IsInLoop(env, frame)) continue;
      jclass owner = nullptr;
      if (env->GetMethodDeclaringClass(frame.method, &owner) != JVMTI_ERROR_NONE) continue;
      const LocalRef<jclass> owned(jni, owner);
      const bool changes = std::any_of(classes.begin(), classes.end(), [&](jclass klass) {
        return jni->IsSameObject(klass, owner);
      });
      if (changes) names.insert(NameOf(env, owner, frame.method));
    }
  });
  names.erase("");
  return {names.begin(), names.end()};
}

}  // namespace jtrace::jvmti
