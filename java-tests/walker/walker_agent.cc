// The test agent: a Sampler and the minimal JVMTI that it needs, checking the chains it gets.
//
// -agentpath:…=KEY=VALUE,… as walker_settings.h lists them. A failed check prints why on stderr and
// ends the JVM with status 3.
//
// Also the native half of the test programs (PathCheck).
#include <jni.h>
#include <jvmti.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <map>
#include <thread>
#include <utility>

#include "agent/samples/handler/sample_record.h"
#include "agent/samples/sampler.h"
#include "java-tests/walker/path_check.h"
#include "java-tests/walker/stepper.h"
#include "java-tests/walker/walker_samples.h"
#include "java-tests/walker/walker_settings.h"

namespace jtrace::walker_test {

Agent* agent;

namespace {

using samples::Sampler;

void DrainLoop() {
  int rounds = 0;
  while (agent->draining) {
    agent->sampler->Drain([](const samples::SampleView& sample) { Take(sample, false); });
    if (++rounds % 20 == 0) agent->sampler->SweepEndedThreads();
    usleep(20'000);
  }
}

void StartDrainer() {
  // A helper thread is never sampled and takes no signals except those of its own faults.
  sigset_t all, before;
  sigfillset(&all);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP}) sigdelset(&all, fault);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  agent->drainer = std::thread(DrainLoop);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void MakeMethodIds(jvmtiEnv* jvmti, jclass type) {
  jint count;
  jmethodID* methods;
  if (jvmti->GetClassMethods(type, &count, &methods) == JVMTI_ERROR_NONE) {
    jvmti->Deallocate(reinterpret_cast<unsigned char*>(methods));
  }
}

uint64_t JavaTid(JNIEnv* env, jobject thread) {
  static jclass const type =
      static_cast<jclass>(env->NewGlobalRef(env->FindClass("java/lang/Thread")));
  static jmethodID const get_id = env->GetMethodID(type, "getId", "()J");
  return static_cast<uint64_t>(env->CallLongMethod(thread, get_id));
}

void AttachRunningThreads(jvmtiEnv* jvmti, JNIEnv* env) {
  Sampler& sampler = *agent->sampler;
  std::map<pid_t, std::pair<uint64_t, uintptr_t>> java;
  jclass const type = env->FindClass("java/lang/Thread");
  jfieldID const eetop = env->GetFieldID(type, "eetop", "J");
  jint count = 0;
  jthread* threads = nullptr;
  jvmti->GetAllThreads(&count, &threads);
  for (jint i = 0; i < count; ++i) {
    const auto java_thread = static_cast<uintptr_t>(env->GetLongField(threads[i], eetop));
    const pid_t tid = sampler.jvm().OsThreadId(java_thread);
    if (tid != 0) java[tid] = {JavaTid(env, threads[i]), java_thread};
  }
  jvmti->Deallocate(reinterpret_cast<unsigned char*>(threads));
  for (const pid_t tid : samples::ListThreads()) {
    const auto known = java.find(tid);
    const auto identity = known != java.end() ? known->second : std::pair<uint64_t, uintptr_t>{};
    const auto status =
        sampler.AttachThread(tid, static_cast<uint32_t>(tid), identity.first, identity.second);
    if (!status.ok()) fprintf(stderr, "walker_agent: %s\n", status.ToString().c_str());
  }
}

double Millis(timespec from, timespec to) {
  return (to.tv_sec - from.tv_sec) * 1e3 + (to.tv_nsec - from.tv_nsec) / 1e6;
}

void JNICALL OnVmInit(jvmtiEnv* jvmti, JNIEnv* env, jthread) {
  timespec begin, end;
  jint count;
  jclass* classes;
  if (jvmti->GetLoadedClasses(&count, &classes) == JVMTI_ERROR_NONE) {
    for (jint i = 0; i < count; ++i) MakeMethodIds(jvmti, classes[i]);
    jvmti->Deallocate(reinterpret_cast<unsigned char*>(classes));
  }
  jvmti->GenerateEvents(JVMTI_EVENT_DYNAMIC_CODE_GENERATED);
  clock_gettime(CLOCK_MONOTONIC, &begin);
  const auto status = agent->sampler->Start(env);
  clock_gettime(CLOCK_MONOTONIC, &end);
  if (getenv("WALKER_AGENT_VERBOSE") != nullptr) {
    fprintf(stderr, "walker_agent: start took %.2f ms\n", Millis(begin, end));
  }
  if (!status.ok() || !agent->sampler->jvm().problem().empty()) {
    fprintf(stderr, "walker_agent: %s %s\n", status.ToString().c_str(),
            agent->sampler->jvm().problem().c_str());
    _exit(3);
  }
  if (!agent->settings.reports && !agent->sampler->jvm().KeepDebugInfo()) {
    fprintf(stderr, "walker_agent: DebugNonSafepoints was not found\n");
    _exit(3);
  }
  AttachRunningThreads(jvmti, env);
  if (agent->settings.steps != 0) EnableStepping(&agent->stepped_paths, agent->settings.steps);
  StartDrainer();
}

void JNICALL OnThreadStart(jvmtiEnv*, JNIEnv* env, jthread thread) {
  if (agent->sampler == nullptr) return;
  (void)agent->sampler->AttachCurrentThread(env, static_cast<uint32_t>(gettid()),
                                            JavaTid(env, thread));
}

void JNICALL OnThreadEnd(jvmtiEnv*, JNIEnv*, jthread) {
  if (agent->sampler != nullptr) agent->sampler->DetachCurrentThread();
}

void JNICALL OnVmDeath(jvmtiEnv*, JNIEnv*) {
  agent->draining = false;
  agent->drainer.join();
  const auto status = agent->sampler->Stop();
  if (!status.ok()) fprintf(stderr, "walker_agent: %s\n", status.ToString().c_str());
  agent->sampler->Drain([](const samples::SampleView& sample) { Take(sample, true); });
  if (!agent->settings.report.empty()) {
    FILE* const out = fopen(agent->settings.report.c_str(), "we");
    if (out != nullptr) {
      PrintReport(out);
      fclose(out);
    }
  }
  CheckResult();
}

void JNICALL OnDynamicCode(jvmtiEnv*, const char* name, const void* address, jint length) {
  if (agent->sampler == nullptr) return;
  const auto begin = reinterpret_cast<uintptr_t>(address);
  agent->sampler->jvm().AddStub(name, begin, begin + static_cast<uint32_t>(length));
}

// Enabled, the compilers keep debug information at every instruction, not at calls only.
void JNICALL OnCompiledMethodLoad(jvmtiEnv* jvmti, jmethodID, jint, const void* code, jint,
                                  const jvmtiAddrLocationMap*, const void* compile_info) {
  agent->sampler->jvm().CheckCompiledCode(reinterpret_cast<uintptr_t>(code), compile_info);
  if (agent->settings.reports || agent->sampler->jvm().NeedsCompiledCode()) return;
  agent->unreported = true;
  jvmti->SetEventNotificationMode(JVMTI_DISABLE, JVMTI_EVENT_COMPILED_METHOD_LOAD, nullptr);
}

void JNICALL OnClassPrepare(jvmtiEnv* jvmti, JNIEnv*, jthread, jclass type) {
  MakeMethodIds(jvmti, type);
}

jint Load(JavaVM* vm, const char* options) {
  agent = new Agent;
  agent->settings = ParseWalkerSettings(options);
  agent->settings.sampler.read_position = ReadPublishedPath;
  if (vm->GetEnv(reinterpret_cast<void**>(&agent->jvmti), JVMTI_VERSION_1_2) != JNI_OK) return 1;
  timespec begin, end;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  agent->jvm.Read(reinterpret_cast<const void*>(vm->functions->GetEnv));
  auto sampler = Sampler::Create(agent->settings.sampler, agent->jvm);
  clock_gettime(CLOCK_MONOTONIC, &end);
  if (getenv("WALKER_AGENT_VERBOSE") != nullptr) {
    fprintf(stderr, "walker_agent: create took %.2f ms\n", Millis(begin, end));
  }
  if (!sampler.ok()) {
    fprintf(stderr, "walker_agent: %s\n", sampler.status().ToString().c_str());
    _exit(3);
  }
  agent->sampler = *std::move(sampler);

  jvmtiCapabilities capabilities{};
  capabilities.can_generate_compiled_method_load_events = 1;
  agent->jvmti->AddCapabilities(&capabilities);
  jvmtiEventCallbacks callbacks{};
  callbacks.VMInit = OnVmInit;
  callbacks.VMDeath = OnVmDeath;
  callbacks.ThreadStart = OnThreadStart;
  callbacks.ThreadEnd = OnThreadEnd;
  callbacks.ClassLoad = [](jvmtiEnv*, JNIEnv*, jthread, jclass) {};
  callbacks.ClassPrepare = OnClassPrepare;
  callbacks.DynamicCodeGenerated = OnDynamicCode;
  callbacks.CompiledMethodLoad = OnCompiledMethodLoad;
  agent->jvmti->SetEventCallbacks(&callbacks, sizeof callbacks);
  for (const jvmtiEvent event :
       {JVMTI_EVENT_VM_INIT, JVMTI_EVENT_VM_DEATH, JVMTI_EVENT_THREAD_START, JVMTI_EVENT_THREAD_END,
        JVMTI_EVENT_CLASS_LOAD, JVMTI_EVENT_CLASS_PREPARE, JVMTI_EVENT_DYNAMIC_CODE_GENERATED,
        JVMTI_EVENT_COMPILED_METHOD_LOAD}) {
    agent->jvmti->SetEventNotificationMode(JVMTI_ENABLE, event, nullptr);
  }
  return 0;
}

}  // namespace

PathChecker* Paths() { return agent != nullptr ? &agent->paths : nullptr; }
PathChecker* SteppedPaths() { return agent != nullptr ? &agent->stepped_paths : nullptr; }

}  // namespace jtrace::walker_test

extern "C" JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM* vm, char* options, void*) {
  return jtrace::walker_test::Load(vm, options);
}
