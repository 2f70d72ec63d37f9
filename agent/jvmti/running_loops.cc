#include "agent/jvmti/running_loops.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "agent/base/class_names.h"
#include "agent/classfile/loops.h"
#include "agent/jvmti/env.h"

namespace jtrace::jvmti {
namespace {

constexpr jint kMaxFrames = 256;

bool Runs(jint state) {
  return (state & JVMTI_THREAD_STATE_RUNNABLE) != 0 && (state & JVMTI_THREAD_STATE_IN_NATIVE) == 0;
}

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
  Allocated<char> name(env), signature(env);
  if (env->GetMethodName(method, name.out(), nullptr, nullptr) != JVMTI_ERROR_NONE ||
      env->GetClassSignature(owner, signature.out(), nullptr) != JVMTI_ERROR_NONE) {
    return "";
  }
  return absl::StrCat(BinaryName(signature.get()), ".", name.get());
}

}  // namespace

std::vector<std::string> FindRunningLoops(jvmtiEnv* env, JNIEnv* jni,
                                          std::span<const jclass> classes) {
  jint count = 0;
  Allocated<jvmtiStackInfo> stacks(env);
  if (env->GetAllStackTraces(kMaxFrames, stacks.out(), &count) != JVMTI_ERROR_NONE) return {};
  std::set<std::string> names;
  for (const jvmtiStackInfo& stack : std::span(stacks.get(), static_cast<size_t>(count))) {
    if (!Runs(stack.state)) continue;
    for (const jvmtiFrameInfo& frame :
         std::span(stack.frame_buffer, static_cast<size_t>(stack.frame_count))) {
      if (!IsInLoop(env, frame)) continue;
      jclass owner = nullptr;
      if (env->GetMethodDeclaringClass(frame.method, &owner) != JVMTI_ERROR_NONE) continue;
      const LocalRef<jclass> owned(jni, owner);
      const bool changes = std::any_of(classes.begin(), classes.end(), [&](jclass klass) {
        return jni->IsSameObject(klass, owner);
      });
      if (changes) names.insert(NameOf(env, owner, frame.method));
    }
  }
  names.erase("");
  return {names.begin(), names.end()};
}

}  // namespace jtrace::jvmti
