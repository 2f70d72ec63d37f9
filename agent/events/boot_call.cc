#include "agent/events/boot_call.h"

#include <atomic>

#include "agent/calls/embedded_classes.h"
#include "agent/calls/probe_class.h"
#include "agent/jvm/jvmti_calls.h"
#include "agent/signal_safe/agent_work_scope.h"

namespace jtrace::events {
namespace {

constexpr char kNativeIo[] = "jtrace/NativeIo";

// What ReplaceAll calls, because JNI cannot pass it; null while it does not run.
constinit std::atomic<const absl::FunctionRef<void()>*> g_work{nullptr};

void JNICALL ReplaceAll(JNIEnv*, jclass) { (*g_work.load())(); }

// Returns jtrace.NativeIo, defined once, as a global reference. Null: the JVM rejects it.
jclass BootClass(JNIEnv* jni) {
  static constinit std::atomic<jclass> known{nullptr};
  if (known.load() != nullptr) return known.load();
  const JNINativeMethod native = {const_cast<char*>("replaceAll"), const_cast<char*>("()V"),
                                  reinterpret_cast<void*>(signal_safe::kRunAsAgent<ReplaceAll>)};
  const jvm::LocalRef<jclass> defined(
      jni, calls::DefineBootClass(jni, kNativeIo, calls::EmbeddedNativeIo()));
  if (defined.get() == nullptr || jni->RegisterNatives(defined.get(), &native, 1) != JNI_OK) {
    return nullptr;
  }
  known.store(static_cast<jclass>(jni->NewGlobalRef(defined.get())));
  return known.load();
}

}  // namespace

absl::Status CallFromBootClass(JNIEnv* jni, absl::FunctionRef<void()> work) {
  bool has_run = false;
  const auto noted = [&] {
    work();
    has_run = true;
  };
  const absl::FunctionRef<void()> task = noted;
  g_work.store(&task);
  if (const jclass boot_class = BootClass(jni); boot_class != nullptr) {
    const jmethodID replace = jni->GetStaticMethodID(boot_class, "replace", "()V");
    if (replace != nullptr) jni->CallStaticVoidMethod(boot_class, replace);
  }
  g_work.store(nullptr);
  if (has_run && jni->ExceptionCheck() == JNI_FALSE) return absl::OkStatus();
  jni->ExceptionClear();
  return absl::FailedPreconditionError("this JVM rejects the class that replaces its natives");
}

}  // namespace jtrace::events
