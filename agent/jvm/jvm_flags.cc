#include "agent/jvm/jvm_flags.h"

#include <algorithm>

#include "agent/jvm/checked_read.h"

namespace jtrace::jvm {
namespace {

using samples::kAbsent;
using samples::Offset;

// Local references that end with their scope.
class JavaFrame {
 public:
  explicit JavaFrame(JNIEnv* env) : env_(env), pushed_(env->PushLocalFrame(8) == JNI_OK) {}
  ~JavaFrame() {
    if (env_->ExceptionCheck() == JNI_TRUE) env_->ExceptionClear();
    if (pushed_) env_->PopLocalFrame(nullptr);
  }
  bool pushed() const { return pushed_; }

 private:
  JNIEnv* env_;
  bool pushed_;
};

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

JvmFlags::JvmFlags(const VmStructs& structs) {
  constexpr uint64_t kMostFlags = 10'000;
  const samples::Offset name_at = structs.Field("JVMFlag", "_name");
  const samples::Offset value_at = structs.Field("JVMFlag", "_addr");
  const samples::Offset origin_at = structs.Field("JVMFlag", "_flags");
  const uint32_t size = structs.Size("JVMFlag");
  const uintptr_t flags = structs.StaticPointer("JVMFlag", "flags");
  const uintptr_t count_at = structs.Static("JVMFlag", "numFlags");
  if (name_at == samples::kAbsent || value_at == samples::kAbsent || size == 0 || flags == 0) {
    return;
  }
  const uint64_t count = std::min(Load<uint64_t>(count_at), kMostFlags);
  PageReader reader;
  for (uint64_t i = 0; i < count; ++i) {
    const uintptr_t flag = flags + i * size;
    const auto name = reader.Load<uintptr_t>(flag + static_cast<uintptr_t>(name_at));
    if (name == 0) continue;
    const uintptr_t origin =
        origin_at == samples::kAbsent ? 0 : flag + static_cast<uintptr_t>(origin_at);
    flags_.emplace(reader.Text(name),
                   Flag{reader.Load<uintptr_t>(flag + static_cast<uintptr_t>(value_at)), origin});
  }
}

template <typename T>
std::optional<T> JvmFlags::Value(std::string_view name) const {
  const uintptr_t address = AddressOf(name);
  T value;
  if (address == 0 || !CheckedCopy(address, &value, sizeof value)) return std::nullopt;
  return value;
}

template std::optional<int64_t> JvmFlags::Value(std::string_view name) const;
template std::optional<double> JvmFlags::Value(std::string_view name) const;

uintptr_t JvmFlags::AddressOf(std::string_view name) const {
  const auto found = flags_.find(std::string(name));
  return found == flags_.end() ? 0 : found->second.value;
}

std::optional<bool> JvmFlags::IsDefault(std::string_view name) const {
  constexpr uint32_t kOrigin = 0xf;  // the other bits are about the kind of flag
  const auto found = flags_.find(std::string(name));
  uint32_t word;
  if (found == flags_.end() || found->second.origin == 0 ||
      !CheckedCopy(found->second.origin, &word, sizeof word)) {
    return std::nullopt;
  }
  return (word & kOrigin) == 0;
}

std::optional<bool> JvmFlags::Bool(std::string_view name) const {
  const std::optional<uint8_t> value = Value<uint8_t>(name);
  if (!value.has_value() || *value > 1) return std::nullopt;
  return *value != 0;
}

Offset ThreadFieldOffset(JNIEnv* env, const char* field) {
  const JavaFrame frame(env);
  if (!frame.pushed()) return kAbsent;
  jclass const thread = env->FindClass("java/lang/Thread");
  jclass const unsafe = thread != nullptr ? env->FindClass("jdk/internal/misc/Unsafe") : nullptr;
  if (unsafe == nullptr) return kAbsent;
  jmethodID const get = env->GetStaticMethodID(unsafe, "getUnsafe", "()Ljdk/internal/misc/Unsafe;");
  if (get == nullptr) return kAbsent;
  jmethodID const offset =
      env->GetMethodID(unsafe, "objectFieldOffset", "(Ljava/lang/Class;Ljava/lang/String;)J");
  if (offset == nullptr) return kAbsent;
  jobject const instance = env->CallStaticObjectMethod(unsafe, get);
  if (env->ExceptionCheck() == JNI_TRUE || instance == nullptr) return kAbsent;
  jstring const name = env->NewStringUTF(field);
  if (name == nullptr) return kAbsent;
  const jlong found = env->CallLongMethod(instance, offset, thread, name);
  if (env->ExceptionCheck() == JNI_TRUE) return kAbsent;
  constexpr jlong kLargestThread = 4096;
  return found > 0 && found < kLargestThread ? static_cast<Offset>(found) : kAbsent;
}

std::optional<jlong> CurrentThreadField(JNIEnv* env, const char* field) {
  const JavaFrame frame(env);
  if (!frame.pushed()) return std::nullopt;
  jclass const thread = env->FindClass("java/lang/Thread");
  jfieldID const id = thread == nullptr ? nullptr : env->GetFieldID(thread, field, "J");
  if (id == nullptr) return std::nullopt;
  jmethodID const current = env->GetStaticMethodID(thread, "currentThread", "()Ljava/lang/Thread;");
  if (current == nullptr) return std::nullopt;
  jobject const object = env->CallStaticObjectMethod(thread, current);
  // currentThread throws nothing, but -Xcheck:jni requires a check.
  if (env->ExceptionCheck() == JNI_TRUE || object == nullptr) return std::nullopt;
  return env->GetLongField(object, id);
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
