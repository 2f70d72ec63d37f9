#include "agent/jvm/env.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "agent/base/class_names.h"

namespace jtrace::jvm {

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

bool ThreadFields::Learn(JNIEnv* jni) {
  if (eetop_.load() != nullptr) return true;
  const LocalRef<jclass> klass(jni, jni->FindClass("java/lang/Thread"));
  const jfieldID tid = klass.get() != nullptr ? jni->GetFieldID(klass.get(), "tid", "J") : nullptr;
  const jfieldID eetop = tid != nullptr ? jni->GetFieldID(klass.get(), "eetop", "J") : nullptr;
  if (eetop == nullptr) {
    jni->ExceptionClear();
    return false;
  }
  tid_.store(tid);
  eetop_.store(eetop);
  return true;
}

ThreadIdentity ThreadFields::Of(JNIEnv* jni, jthread thread) {
  if (!Learn(jni)) return {};
  return {.java_tid = static_cast<uint64_t>(jni->GetLongField(thread, tid_.load())),
          .java_thread = static_cast<uintptr_t>(jni->GetLongField(thread, eetop_.load()))};
}

uint64_t ThreadFields::JavaTid(JNIEnv* jni, jthread thread) {
  return Learn(jni) ? static_cast<uint64_t>(jni->GetLongField(thread, tid_.load())) : 0;
}

}  // namespace jtrace::jvm
