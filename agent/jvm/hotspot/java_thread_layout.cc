#include "agent/jvm/hotspot/java_thread_layout.h"

#include "absl/status/statusor.h"
#include "agent/jvm/hotspot/checked_read.h"
#include "agent/jvm/hotspot/vm_structs.h"
#include "agent/signal_safe/safe_read.h"

namespace jtrace::jvm {
namespace {

using samples::kAbsent;
using samples::Offset;

// Room for local references. The end of the scope deletes them, and clears a pending exception.
class JniScope {
 public:
  explicit JniScope(JNIEnv* env) : env_(env), pushed_(env->PushLocalFrame(8) == JNI_OK) {}
  ~JniScope() {
    if (env_->ExceptionCheck() == JNI_TRUE) env_->ExceptionClear();
    if (pushed_) env_->PopLocalFrame(nullptr);
  }
  bool pushed() const { return pushed_; }

 private:
  JNIEnv* env_;
  bool pushed_;
};

// Like signal_safe::ReadAllocated, but returns false if the memory is not mapped.
bool ReadGuarded(const signal_safe::AllocLayout& layout, uint64_t java_thread, uint64_t* bytes) {
  uint64_t counted, top, start;
  const auto read = [java_thread](uint32_t offset, uint64_t* value) {
    return CheckedCopy(java_thread + offset, value, sizeof *value);
  };
  if (!read(layout.allocated_bytes, &counted) || !read(layout.tlab_top, &top) ||
      !read(layout.tlab_start, &start)) {
    return false;
  }
  *bytes = counted + (top - start);
  return true;
}

// Allocates until the thread gets another TLAB, so that it checks both parts of the count.
bool CountsArrays(JNIEnv* env, const signal_safe::AllocLayout& layout, uint64_t java_thread) {
  constexpr jsize kArray = 64 << 10;
  constexpr int kMaxArrays = 16;
  // The most bytes of headers, and of what the JVM and other agents allocate meanwhile.
  constexpr uint64_t kOthers = 16 << 20;
  uint64_t before, after, buffer, another;
  if (!ReadGuarded(layout, java_thread, &before)) return false;
  const uint64_t start = java_thread + layout.tlab_start;
  if (!CheckedCopy(start, &buffer, sizeof buffer)) return false;
  for (uint64_t arrays = 1; arrays <= kMaxArrays; ++arrays) {
    jobject const array = env->NewByteArray(kArray);
    if (array == nullptr) return true;  // no memory: nothing is known
    if (!ReadGuarded(layout, java_thread, &after)) return false;
    env->DeleteLocalRef(array);
    const uint64_t least = arrays * kArray;
    if (after - before < least || after - before > least + kOthers) return false;
    if (CheckedCopy(start, &another, sizeof another) && another != buffer) return true;
  }
  return true;
}

}  // namespace

JavaThreadLayout ReadJavaThreadLayout(const void* libjvm_address) {
  const absl::StatusOr<const VmStructs*> tables = VmStructs::Of(libjvm_address);
  if (!tables.ok()) return {};
  const VmStructs* const structs = *tables;
  const samples::Offset bytes = structs->Field({"Thread", "JavaThread"}, "_allocated_bytes");
  const samples::Offset tlab = structs->Field({"Thread", "JavaThread"}, "_tlab");
  const samples::Offset top = structs->Field("ThreadLocalAllocBuffer", "_top");
  const samples::Offset start = structs->Field("ThreadLocalAllocBuffer", "_start");
  const samples::Offset os_thread = structs->Field({"JavaThread", "Thread"}, "_osthread");
  const samples::Offset os_thread_id = structs->Field("OSThread", "_thread_id");
  JavaThreadLayout layout;
  if (bytes != samples::kAbsent && tlab != samples::kAbsent && top != samples::kAbsent &&
      start != samples::kAbsent) {
    layout.allocated = {static_cast<uint32_t>(bytes), static_cast<uint32_t>(tlab + top),
                        static_cast<uint32_t>(tlab + start)};
  }
  if (os_thread != samples::kAbsent && os_thread_id != samples::kAbsent) {
    layout.os_thread = static_cast<uint32_t>(os_thread);
    layout.os_thread_id = static_cast<uint32_t>(os_thread_id);
  }
  return layout;
}

bool CountsAllocations(JNIEnv* env, const signal_safe::AllocLayout& layout) {
  if (layout.allocated_bytes == 0 || env->PushLocalFrame(8) != JNI_OK) return false;
  const auto java_thread = static_cast<uint64_t>(CurrentThreadField(env, "eetop").value_or(0));
  const bool counts = java_thread != 0 && CountsArrays(env, layout, java_thread);
  if (env->ExceptionCheck() == JNI_TRUE) env->ExceptionClear();
  env->PopLocalFrame(nullptr);
  return counts;
}

pid_t OsThreadIdOf(const JavaThreadLayout& layout, uint64_t java_thread) {
  if (java_thread == 0 || layout.os_thread == 0) return 0;
  const uintptr_t os_thread = signal_safe::SafeReadOr0(java_thread + layout.os_thread);
  if (os_thread == 0) return 0;
  int32_t tid;  // not aligned to a word in some JDKs
  return signal_safe::SafeRead(os_thread + layout.os_thread_id, &tid) ? tid : 0;
}

Offset ThreadFieldOffset(JNIEnv* env, const char* field) {
  const JniScope frame(env);
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
  const JniScope frame(env);
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

}  // namespace jtrace::jvm
