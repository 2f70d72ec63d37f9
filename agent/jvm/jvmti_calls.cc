#include "agent/jvm/jvmti_calls.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "agent/base/class_names.h"

namespace jtrace::jvm {
namespace {

jlong MaxMemory(JNIEnv* jni) {
  jclass type = jni->FindClass("java/lang/Runtime");
  if (type == nullptr) return 0;
  jmethodID get = jni->GetStaticMethodID(type, "getRuntime", "()Ljava/lang/Runtime;");
  if (get == nullptr) return 0;
  jobject runtime = jni->CallStaticObjectMethod(type, get);
  if (jni->ExceptionCheck() == JNI_TRUE || runtime == nullptr) return 0;
  jmethodID max = jni->GetMethodID(type, "maxMemory", "()J");
  return max == nullptr ? 0 : jni->CallLongMethod(runtime, max);
}

}  // namespace

std::string ClassName(jvmtiEnv* env, jclass klass) {
  Allocated<char> signature(env);
  const bool is_known = env->GetClassSignature(klass, signature.out(), nullptr) == JVMTI_ERROR_NONE;
  return is_known ? BinaryName(signature.get()) : "";
}

absl::Status ToStatus(jvmtiEnv* env, jvmtiError error, const char* call) {
  if (error == JVMTI_ERROR_NONE) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("JVMTI ", call, ": ", ErrorName(env, error)));
}

std::string ErrorName(jvmtiEnv* env, jvmtiError error) {
  Allocated<char> name(env);
  env->GetErrorName(error, name.out());
  return name.get() != nullptr ? std::string(name.get())
                               : absl::StrCat("error ", static_cast<int>(error));
}

std::span<unsigned char> CopyForJvm(jvmtiEnv* env, std::span<const unsigned char> bytes) {
  unsigned char* memory = nullptr;
  if (env->Allocate(static_cast<jlong>(bytes.size()), &memory) != JVMTI_ERROR_NONE) return {};
  std::copy(bytes.begin(), bytes.end(), memory);
  return {memory, bytes.size()};
}

std::string SystemProperty(jvmtiEnv* env, const char* name) {
  Allocated<char> value(env);
  if (env->GetSystemProperty(name, value.out()) != JVMTI_ERROR_NONE) return "";
  return value.get();
}

bool IsHiddenSignature(absl::string_view signature) {
  return absl::StrContains(signature, ".0x") || absl::StrContains(signature, "/0x");
}

uint64_t MaxHeap(JNIEnv* jni) {
  constexpr jint kReferences = 4;
  if (jni->PushLocalFrame(kReferences) != 0) {
    jni->ExceptionClear();
    return 0;
  }
  const jlong bytes = MaxMemory(jni);
  jni->ExceptionClear();
  jni->PopLocalFrame(nullptr);
  return bytes > 0 ? static_cast<uint64_t>(bytes) : 0;
}

}  // namespace jtrace::jvm
