#include "agent/session/callbacks.h"

#include "agent/jvm/jvmti_calls.h"
#include "agent/jvm/jvmti_environment.h"
#include "agent/session/jvm_session.h"
#include "agent/signal_safe/agent_work_scope.h"

namespace jtrace {
namespace {

JvmSession& SessionOf(jvmtiEnv* env) {
  void* session = nullptr;
  env->GetEnvironmentLocalStorage(&session);
  return *static_cast<JvmSession*>(session);
}

JvmEventDispatcher& EventsOf(jvmtiEnv* env) { return SessionOf(env).events(); }

void JNICALL VmInit(jvmtiEnv* env, JNIEnv* jni, jthread thread) {
  SessionOf(env).VmInit(jni, thread);
}

void JNICALL VmDeath(jvmtiEnv* env, JNIEnv*) { SessionOf(env).VmDeath(); }

void JNICALL ThreadStart(jvmtiEnv* env, JNIEnv* jni, jthread thread) {
  EventsOf(env).ThreadStart(jni, thread);
}

void JNICALL ThreadEnd(jvmtiEnv* env, JNIEnv*, jthread) { EventsOf(env).ThreadEnd(); }

void JNICALL VirtualThreadStart(jvmtiEnv* env, JNIEnv* jni, jthread thread) {
  EventsOf(env).VirtualThreadStart(jni, thread);
}

void JNICALL VirtualThreadEnd(jvmtiEnv* env, JNIEnv* jni, jthread thread) {
  EventsOf(env).VirtualThreadEnd(jni, thread);
}

void JNICALL ClassFileLoadHook(jvmtiEnv* env, JNIEnv* jni, jclass redefined, jobject loader,
                               const char* name, jobject domain, jint size,
                               const unsigned char* bytes, jint* new_size,
                               unsigned char** new_bytes) {
  if (redefined == nullptr) EventsOf(env).ClassDefine(jni, loader, name, domain);
  EventsOf(env).ClassFileLoad(redefined, loader, name, {bytes, static_cast<size_t>(size)}, new_size,
                              new_bytes);
}

void JNICALL ClassPrepare(jvmtiEnv* env, JNIEnv*, jthread, jclass klass) {
  EventsOf(env).ClassPrepare(klass);
}

void JNICALL ObjectFree(jvmtiEnv* env, jlong tag) { EventsOf(env).ObjectFree(tag); }

void JNICALL CompiledMethodLoad(jvmtiEnv* env, jmethodID method, jint size, const void* address,
                                jint, const jvmtiAddrLocationMap*, const void* compile_info) {
  EventsOf(env).CompiledMethodLoad(method, size, address, compile_info);
}

void JNICALL CompiledMethodUnload(jvmtiEnv* env, jmethodID method, const void* address) {
  EventsOf(env).CompiledMethodUnload(method, address);
}

void JNICALL DynamicCodeGenerated(jvmtiEnv* env, const char* name, const void* address, jint size) {
  EventsOf(env).DynamicCode(name, address, size);
}

void JNICALL NativeMethodBind(jvmtiEnv* env, JNIEnv*, jthread, jmethodID, void*, void**) {
  EventsOf(env).NativeMethodBind();
}

void JNICALL GcStart(jvmtiEnv* env) { EventsOf(env).GcStart(); }

void JNICALL GcFinish(jvmtiEnv* env) { EventsOf(env).GcFinish(); }

}  // namespace

absl::Status InstallCallbacks(jvmtiEnv* env, JvmSession* session) {
  absl::Status status =
      jvm::ToStatus(env, env->SetEnvironmentLocalStorage(session), "SetEnvironmentLocalStorage");
  if (!status.ok()) return status;
  jvm::Callbacks callbacks = {};
  callbacks.base.VMInit = signal_safe::kRunAsAgent<VmInit>;
  callbacks.base.VMDeath = signal_safe::kRunAsAgent<VmDeath>;
  callbacks.base.ThreadStart = signal_safe::kRunAsAgent<ThreadStart>;
  callbacks.base.ThreadEnd = signal_safe::kRunAsAgent<ThreadEnd>;
  callbacks.base.ClassFileLoadHook = signal_safe::kRunAsAgent<ClassFileLoadHook>;
  callbacks.base.ClassPrepare = signal_safe::kRunAsAgent<ClassPrepare>;
  callbacks.base.ObjectFree = signal_safe::kRunAsAgent<ObjectFree>;
  callbacks.base.CompiledMethodLoad = signal_safe::kRunAsAgent<CompiledMethodLoad>;
  callbacks.base.CompiledMethodUnload = signal_safe::kRunAsAgent<CompiledMethodUnload>;
  callbacks.base.DynamicCodeGenerated = signal_safe::kRunAsAgent<DynamicCodeGenerated>;
  callbacks.base.NativeMethodBind = signal_safe::kRunAsAgent<NativeMethodBind>;
  callbacks.base.GarbageCollectionStart = signal_safe::kRunAsAgent<GcStart>;
  callbacks.base.GarbageCollectionFinish = signal_safe::kRunAsAgent<GcFinish>;
  callbacks.virtual_thread_start = signal_safe::kRunAsAgent<VirtualThreadStart>;
  callbacks.virtual_thread_end = signal_safe::kRunAsAgent<VirtualThreadEnd>;
  return jvm::ToStatus(env, env->SetEventCallbacks(&callbacks.base, sizeof(callbacks)),
                       "SetEventCallbacks");
}

}  // namespace jtrace
