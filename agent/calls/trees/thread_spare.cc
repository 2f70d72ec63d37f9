#include "agent/calls/trees/thread_spare.h"

#include <string>
#include <vector>

namespace jtrace::calls {
namespace {

constexpr jint kAccStatic = 0x0008;
// The first field of the padded group.
constexpr char kPaddedField[] = "threadLocalRandomSeed";

std::vector<std::string> InstanceFields(jvmtiEnv* jvmti, jclass type) {
  std::vector<std::string> names;
  jint count = 0;
  jfieldID* fields = nullptr;
  if (jvmti->GetClassFields(type, &count, &fields) != JVMTI_ERROR_NONE) return names;
  for (jint i = 0; i < count; ++i) {
    jint modifiers = 0;
    char* name = nullptr;
    if (jvmti->GetFieldModifiers(type, fields[i], &modifiers) != JVMTI_ERROR_NONE) continue;
    if ((modifiers & kAccStatic) != 0) continue;
    if (jvmti->GetFieldName(type, fields[i], &name, nullptr, nullptr) != JVMTI_ERROR_NONE) continue;
    names.emplace_back(name);
    jvmti->Deallocate(reinterpret_cast<unsigned char*>(name));
  }
  jvmti->Deallocate(reinterpret_cast<unsigned char*>(fields));
  return names;
}

// jdk.internal.misc.Unsafe.objectFieldOffset(Class, String), which JNI may call like any method.
class FieldOffsets {
 public:
  explicit FieldOffsets(JNIEnv* jni) : jni_(jni) {
    jclass type = jni->FindClass("jdk/internal/misc/Unsafe");
    if (type == nullptr) return;
    jmethodID get = jni->GetStaticMethodID(type, "getUnsafe", "()Ljdk/internal/misc/Unsafe;");
    if (get == nullptr) return;
    offset_ = jni->GetMethodID(type, "objectFieldOffset", "(Ljava/lang/Class;Ljava/lang/String;)J");
    if (offset_ != nullptr) unsafe_ = jni->CallStaticObjectMethod(type, get);
    // Checked even though getUnsafe throws nothing: -Xcheck:jni warns of calls after an unchecked
    // one.
    if (jni->ExceptionCheck() == JNI_TRUE) unsafe_ = nullptr;
  }

  // -1 if it is unknown.
  jlong Of(jclass type, const std::string& field) const {
    if (unsafe_ == nullptr) return -1;
    jstring name = jni_->NewStringUTF(field.c_str());
    if (name == nullptr) return -1;
    const jlong offset = jni_->CallLongMethod(unsafe_, offset_, type, name);
    jni_->DeleteLocalRef(name);
    if (jni_->ExceptionCheck() == JNI_FALSE) return offset;
    jni_->ExceptionClear();
    return -1;
  }

 private:
  JNIEnv* jni_;
  jmethodID offset_ = nullptr;
  jobject unsafe_ = nullptr;
};

// The padding lies directly before the group; any field in its range means there is none.
uint64_t SpareBefore(jlong padded, const std::vector<jlong>& offsets) {
  constexpr jlong kPadding = 128;
  constexpr jlong kLongestField = 8;
  for (jlong offset : offsets) {
    if (offset < 0) return 0;
    if (offset < padded && offset + kLongestField > padded - kPadding) return 0;
  }
  return padded > kPadding ? static_cast<uint64_t>(padded - kPadding / 2) & ~uint64_t{7} : 0;
}

}  // namespace

uint64_t FindThreadPadding(jvmtiEnv* jvmti, JNIEnv* jni) {
  if (jni->PushLocalFrame(64) != 0) {
    jni->ExceptionClear();
    return 0;
  }
  uint64_t spare = 0;
  jclass thread = jni->FindClass("java/lang/Thread");
  if (thread != nullptr) {
    const FieldOffsets offset_of(jni);
    const jlong padded = offset_of.Of(thread, kPaddedField);
    std::vector<jlong> offsets;
    if (padded > 0) {
      for (const std::string& field : InstanceFields(jvmti, thread)) {
        offsets.push_back(offset_of.Of(thread, field));
      }
      spare = SpareBefore(padded, offsets);
    }
  }
  jni->ExceptionClear();
  jni->PopLocalFrame(nullptr);
  return spare;
}

}  // namespace jtrace::calls
