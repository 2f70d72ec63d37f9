#include "agent/events/io_calls.h"

#include <dlfcn.h>

#include <string>
#include <string_view>

#include "absl/strings/strip.h"
#include "agent/events/boot_call.h"
#include "agent/jvm/jvmti_calls.h"
#include "agent/jvm/loaded_classes.h"

namespace jtrace::events {
namespace {

std::string SignatureOf(jvmtiEnv* env, jclass klass) {
  jvm::Allocated<char> signature(env);
  if (env->GetClassSignature(klass, signature.out(), nullptr) != JVMTI_ERROR_NONE) return "";
  return signature.get();
}

// `signature`: "Ljava/io/FileInputStream;".
bool IsClassOf(const IoNative& native, absl::string_view signature) {
  return absl::ConsumePrefix(&signature, "L") && absl::ConsumeSuffix(&signature, ";") &&
         signature == native.class_name;
}

bool HasClass(jvmtiEnv* env, jmethodID method, const IoNative& native) {
  jclass klass = nullptr;
  return env->GetMethodDeclaringClass(method, &klass) == JVMTI_ERROR_NONE &&
         IsClassOf(native, SignatureOf(env, klass));
}

// The JDK's function; null if its library is not loaded, or has none.
void* FindOriginal(const IoNative& native) {
  void* const library = dlopen(std::string(LibraryOf(native)).c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return nullptr;
  void* const function = dlsym(library, SymbolOf(native).c_str());
  dlclose(library);
  return function;
}

// Whether it is a class of the JDK, and not a program's class of the same name.
bool IsOfBootLoader(jvmtiEnv* env, jclass klass) {
  jobject loader = nullptr;
  return env->GetClassLoader(klass, &loader) == JVMTI_ERROR_NONE && loader == nullptr;
}

void ReplaceIn(JNIEnv* jni, jclass klass, size_t number) {
  const IoNative& native = IoNatives()[number];
  std::atomic<void*>& original = OriginalOf(number);
  if (original.load() != nullptr) return;
  void* const function = FindOriginal(native);
  if (function == nullptr) return;
  original.store(function);
  const JNINativeMethod method = {const_cast<char*>(native.method),
                                  const_cast<char*>(native.descriptor), native.replacement};
  // On failure: this JDK's class has no such native.
  if (jni->RegisterNatives(klass, &method, 1) != JNI_OK) jni->ExceptionClear();
}

jvmtiEventCallbacks BindCallbacks() {
  jvmtiEventCallbacks callbacks = {};
  callbacks.NativeMethodBind = jvm::kCallback<&IoCalls::Bound>;
  return callbacks;
}

}  // namespace

IoCalls::IoCalls(JavaVM* vm) : vm_(vm), environment_(vm, this, BindCallbacks()) {}

void IoCalls::Bound(JNIEnv*, jthread, jmethodID method, void* address, void** replacement) {
  jvm::Allocated<char> name(env());
  jvm::Allocated<char> descriptor(env());
  if (env()->GetMethodName(method, name.out(), descriptor.out(), nullptr) != JVMTI_ERROR_NONE) {
    return;
  }
  const auto natives = IoNatives();
  for (size_t i = 0; i < natives.size(); ++i) {
    if (std::string_view(name.get()) != natives[i].method ||
        std::string_view(descriptor.get()) != natives[i].descriptor ||
        address == natives[i].replacement || !HasClass(env(), method, natives[i])) {
      continue;
    }
    OriginalOf(i).store(address);
    *replacement = natives[i].replacement;
    return;
  }
}

// Replaces the natives of loaded classes, whether the JVM has bound them yet or not.
void IoCalls::ReplaceBound(JNIEnv* jni) {
  const jvm::LocalFrame frame(jni);
  const auto natives = IoNatives();
  jvm::ForEachLoaded(env(), [&](jclass klass) {
    const std::string signature = SignatureOf(env(), klass);
    for (size_t i = 0; i < natives.size(); ++i) {
      if (!IsClassOf(natives[i], signature)) continue;
      if (!IsOfBootLoader(env(), klass)) return;
      ReplaceIn(jni, klass, i);
    }
  });
}

absl::Status IoCalls::Replace() {
  if (is_replaced_) return absl::OkStatus();
  JNIEnv* jni = nullptr;
  if (environment_.Open() == nullptr ||
      vm_->GetEnv(reinterpret_cast<void**>(&jni), JNI_VERSION_1_8) != JNI_OK) {
    return absl::InternalError("no environment of the JVM's tool interface");
  }
  jvmtiCapabilities wanted = {};
  wanted.can_generate_native_method_bind_events = 1;
  if (environment_.AddCapabilities(wanted).can_generate_native_method_bind_events == 0) {
    return absl::UnimplementedError("it does not report natives that are bound");
  }
  if (absl::Status status = environment_.Enable({JVMTI_EVENT_NATIVE_METHOD_BIND}); !status.ok()) {
    return status;
  }
  absl::Status status = CallFromBootClass(jni, [&] { ReplaceBound(jni); });
  is_replaced_ = status.ok();
  return status;
}

absl::Status IoCalls::Listen(IoListenerUse use, IoListener& listener) {
  if (absl::Status status = Replace(); !status.ok()) return status;
  SetListener(static_cast<size_t>(use), &listener);
  return absl::OkStatus();
}

void IoCalls::Ignore(IoListenerUse use) { SetListener(static_cast<size_t>(use), nullptr); }

}  // namespace jtrace::events
