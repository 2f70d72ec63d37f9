#include "agent/jvm/running_stacks.h"

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/calls/classfile/bytecode_analysis.h"
#include "agent/jvm/jvmti_calls.h"

namespace jtrace::jvm {
namespace {

// The frames that are read of each stack. Deeper frames are those of a recursion.
constexpr jint kMaxActivations = 4096;

// Returns the frame's activation if it runs the present code of a method of `classes`.
std::optional<OpenActivation> ActivationOf(jvmtiEnv* env, JNIEnv* jni, const jvmtiFrameInfo& frame,
                                           ClassRegistry& registry,
                                           const absl::flat_hash_set<uint32_t>& classes) {
  jboolean is_obsolete = JNI_TRUE;
  if (frame.location < 0 || env->IsMethodObsolete(frame.method, &is_obsolete) != JVMTI_ERROR_NONE ||
      is_obsolete) {
    return std::nullopt;
  }
  jclass owner = nullptr;
  if (env->GetMethodDeclaringClass(frame.method, &owner) != JVMTI_ERROR_NONE) return std::nullopt;
  const LocalRef<jclass> owned(jni, owner);
  const uint32_t class_id = registry.NumberOf(owner);
  if (!classes.contains(class_id)) return std::nullopt;
  Allocated<char> name(env), descriptor(env);
  if (env->GetMethodName(frame.method, name.out(), descriptor.out(), nullptr) != JVMTI_ERROR_NONE) {
    return std::nullopt;
  }
  return OpenActivation{.class_id = class_id,
                        .name = name.get(),
                        .descriptor = descriptor.get(),
                        .bci = static_cast<uint32_t>(frame.location)};
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
  Allocated<char> name(env);
  const std::string class_name = ClassName(env, owner);
  if (class_name.empty() ||
      env->GetMethodName(method, name.out(), nullptr, nullptr) != JVMTI_ERROR_NONE) {
    return "";
  }
  return absl::StrCat(class_name, ".", name.get());
}

}  // namespace

std::vector<OpenActivation> FindOpenActivations(jvmtiEnv* env, JNIEnv* jni, ClassRegistry& registry,
                                                ThreadRegistry& threads,
                                                const absl::flat_hash_set<uint32_t>& classes) {
  std::vector<OpenActivation> found;
  jint count = 0;
  Allocated<jvmtiStackInfo> stacks(env);
  if (env->GetAllStackTraces(kMaxActivations, stacks.out(), &count) != JVMTI_ERROR_NONE) {
    return found;
  }
  for (const jvmtiStackInfo& stack : std::span(stacks.get(), static_cast<size_t>(count))) {
    const LocalRef<jthread> thread(jni, stack.thread);
    const uint64_t java_tid = threads.JavaTid(jni, stack.thread);
    for (const jvmtiFrameInfo& frame :
         std::span(stack.frame_buffer, static_cast<size_t>(stack.frame_count))) {
      std::optional<OpenActivation> open = ActivationOf(env, jni, frame, registry, classes);
      if (!open.has_value()) continue;
      open->java_tid = java_tid;
      found.push_back(*std::move(open));
    }
  }
  return found;
}

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

}  // namespace jtrace::jvm
