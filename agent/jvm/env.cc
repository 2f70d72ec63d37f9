#include "agent/jvm/env.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "agent/base/class_names.h"

namespace jtrace::jvm {
namespace {

// Bit 44 of the capabilities: can_support_virtual_threads, reserved in JDK 17's header.
constexpr size_t kVirtualThreadsByte = 5;
constexpr unsigned char kVirtualThreadsBit = 0x10;
static_assert(sizeof(jvmtiCapabilities) == 16);

using CapabilityBytes = std::array<unsigned char, sizeof(jvmtiCapabilities)>;

std::vector<std::string> Refused(const jvmtiCapabilities& wanted,
                                 const jvmtiCapabilities& offered) {
  std::vector<std::string> refused;
  const auto check = [&](bool asked, bool given, const char* what) {
    if (asked && !given) refused.emplace_back(what);
  };
  check(wanted.can_tag_objects, offered.can_tag_objects, "distinct class loaders");
  check(wanted.can_generate_object_free_events, offered.can_generate_object_free_events,
        "class unloads");
  check(wanted.can_generate_garbage_collection_events,
        offered.can_generate_garbage_collection_events, "garbage collections");
  check(wanted.can_generate_compiled_method_load_events,
        offered.can_generate_compiled_method_load_events, "compiled methods");
  check(wanted.can_retransform_classes, offered.can_retransform_classes,
        "probes in loaded classes");
  return refused;
}

absl::Status SetEvents(jvmtiEnv* env, jvmtiEventMode mode, std::span<const jvmtiEvent> events) {
  absl::Status first;
  for (const jvmtiEvent event : events) {
    const jvmtiError error = env->SetEventNotificationMode(mode, event, nullptr);
    first.Update(ToStatus(env, error, "SetEventNotificationMode"));
  }
  return first;
}

}  // namespace

jvmtiEnv* NewEnvironment(JavaVM* vm, void* owner, const jvmtiEventCallbacks& callbacks) {
  jvmtiEnv* env = nullptr;
  if (vm->GetEnv(reinterpret_cast<void**>(&env), JVMTI_VERSION_11) != JNI_OK) return nullptr;
  env->SetEnvironmentLocalStorage(owner);
  env->SetEventCallbacks(&callbacks, sizeof(callbacks));
  return env;
}

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

absl::StatusOr<Granted> AddCapabilities(jvmtiEnv* env, jvmtiCapabilities wanted,
                                        bool virtual_threads) {
  jvmtiCapabilities potential = {};
  absl::Status status =
      ToStatus(env, env->GetPotentialCapabilities(&potential), "GetPotentialCapabilities");
  if (!status.ok()) return status;
  CapabilityBytes offered;
  CapabilityBytes asked;
  std::memcpy(offered.data(), &potential, sizeof(potential));
  std::memcpy(asked.data(), &wanted, sizeof(wanted));
  if (virtual_threads) asked[kVirtualThreadsByte] |= kVirtualThreadsBit;
  Granted granted = {.refused = Refused(wanted, potential)};
  for (size_t i = 0; i < asked.size(); ++i) asked[i] &= offered[i];
  std::memcpy(&wanted, asked.data(), sizeof(wanted));
  status = ToStatus(env, env->AddCapabilities(&wanted), "AddCapabilities");
  if (!status.ok()) return status;
  granted.virtual_threads = (asked[kVirtualThreadsByte] & kVirtualThreadsBit) != 0;
  return granted;
}

absl::Status EnableEvents(jvmtiEnv* env, std::span<const jvmtiEvent> events) {
  return SetEvents(env, JVMTI_ENABLE, events);
}

absl::Status DisableEvents(jvmtiEnv* env, std::span<const jvmtiEvent> events) {
  return SetEvents(env, JVMTI_DISABLE, events);
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
