// The test agent: a Sampler and the minimal JVMTI that it needs, checking the chains it gets.
//
// -agentpath:…=KEY=VALUE,… as walker_settings.h lists them. A failed check prints why on stderr and
// ends the JVM with status 3.
//
// Also the native half of the test programs (PathCheck).
#include <dlfcn.h>
#include <jni.h>
#include <jvmti.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "agent/hot/full_walk_check.h"
#include "agent/hot/sample_handler.h"
#include "agent/sampling/sampler.h"
#include "java-tests/walker/path_check.h"
#include "java-tests/walker/stepper.h"
#include "java-tests/walker/walker_settings.h"

namespace jtrace::walker_test {
namespace {

using hot::ChainEnd;
using hot::Frame;
using hot::FrameKind;
using sampling::Sampler;

// Everything that the agent keeps; one per JVM, reached from the callbacks.
struct Agent {
  WalkerSettings settings;
  jvmtiEnv* jvmti = nullptr;
  std::unique_ptr<Sampler> sampler;
  PathChecker paths, stepped_paths;

  std::thread drainer;
  std::atomic<bool> draining{true};

  // The drainer's own.
  uint64_t samples = 0, weight = 0, ends[4] = {}, frames = 0, raw_methods = 0;
  uint64_t deepest = 0, java_samples = 0, java_roots = 0;
  std::map<std::string, uint64_t> failures;
  int dumped = 0;
};
Agent* agent;

std::string MethodName(uint64_t id) {
  char *name = nullptr, *signature = nullptr;
  jclass declaring;
  auto* const method = reinterpret_cast<jmethodID>(id);
  if (agent->jvmti->GetMethodName(method, &name, nullptr, nullptr) != JVMTI_ERROR_NONE) return "?";
  std::string text = name;
  if (agent->jvmti->GetMethodDeclaringClass(method, &declaring) == JVMTI_ERROR_NONE &&
      agent->jvmti->GetClassSignature(declaring, &signature, nullptr) == JVMTI_ERROR_NONE) {
    text = std::string(signature) + text;
  }
  return text;
}

std::string Describe(const Frame& frame, bool names) {
  char text[300];
  const char* const kinds[] = {"?",      "interpreted", "compiled", "inlined",
                               "native", "stub",        "kernel",   "marker"};
  std::string name;
  switch (frame.kind) {
    case FrameKind::kMarker:
      name = hot::WalkNoteName(static_cast<hot::WalkNote>(frame.value));
      break;
    case FrameKind::kStub:
      name = agent->sampler->StubName(frame.value);
      break;
    case FrameKind::kNative: {
      Dl_info info{};
      if (dladdr(reinterpret_cast<void*>(frame.value), &info) != 0) {
        name = std::string(info.dli_sname != nullptr ? info.dli_sname : "") + " " + info.dli_fname;
      }
      break;
    }
    default:
      if (names && (frame.flags & hot::kFrameRawMethod) == 0) name = MethodName(frame.value);
  }
  snprintf(text, sizeof text, "%-11s %016lx bci %d flags %x %s",
           kinds[static_cast<int>(frame.kind)], frame.value, frame.bci, frame.flags, name.c_str());
  return text;
}

void Dump(const hot::SampleView& sample, bool names) {
  fprintf(stderr, "walker_agent: chain of %u frames, end %d, thread %d\n",
          sample.header.frame_count, static_cast<int>(sample.header.end), sample.header.os_tid);
  for (uint32_t i = 0; i < sample.header.frame_count; ++i) {
    if (i == 25 && sample.header.frame_count > 40) {
      fprintf(stderr, "   …\n");
      i = sample.header.frame_count - 12;
    }
    fprintf(stderr, "   %s\n", Describe(sample.frames[i], names).c_str());
  }
}

void Take(const hot::SampleView& sample, bool names) {
  Agent& a = *agent;
  ++a.samples;
  a.weight += sample.header.weight;
  a.frames += sample.header.frame_count;
  a.deepest = std::max<uint64_t>(a.deepest, sample.header.frame_count);
  ++a.ends[static_cast<int>(sample.header.end)];
  bool java = false;
  for (uint32_t i = 0; i < sample.header.frame_count; ++i) {
    const Frame& frame = sample.frames[i];
    if ((frame.flags & hot::kFrameRawMethod) != 0) ++a.raw_methods;
    java |= frame.kind == FrameKind::kInterpreted || frame.kind == FrameKind::kCompiled;
  }
  a.java_samples += java;
  const bool root = sample.header.end != ChainEnd::kFailed;
  a.java_roots += java && root;
  if (!root) {
    const uint32_t n = sample.header.frame_count;
    std::string what = Describe(sample.frames[n - 1], false);
    if (n > 1) what += " <- " + Describe(sample.frames[n - 2], false);
    ++a.failures[what];
    if (a.dumped++ < a.settings.dump) Dump(sample, names);
  }
  const std::string mismatch = a.paths.Check(sample);
  if (!mismatch.empty() && a.dumped++ < a.settings.dump) {
    fprintf(stderr, "walker_agent: %s\n", mismatch.c_str());
    Dump(sample, names);
  }
}

void DrainLoop() {
  int rounds = 0;
  while (agent->draining) {
    agent->sampler->Drain([](const hot::SampleView& sample) { Take(sample, false); });
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
    const pid_t tid = sampler.OsThreadId(java_thread);
    if (tid != 0) java[tid] = {JavaTid(env, threads[i]), java_thread};
  }
  jvmti->Deallocate(reinterpret_cast<unsigned char*>(threads));
  for (const pid_t tid : sampling::ListThreads()) {
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
  if (!status.ok() || !agent->sampler->JavaLayoutProblem().empty()) {
    fprintf(stderr, "walker_agent: %s %s\n", status.ToString().c_str(),
            agent->sampler->JavaLayoutProblem().c_str());
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

void PrintFrames(FILE* out, const Frame* frames, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) fprintf(out, "   %s\n", Describe(frames[i], true).c_str());
}

void PrintDifferentChains(FILE* out) {
  const hot::DifferentChains& chains = hot::different_chains;
  if (!chains.ready.load(std::memory_order_acquire)) return;
  fprintf(out, "the first chains that differed, interrupted at %lx\n", chains.pc);
  fprintf(out, "with remembered frames:\n");
  PrintFrames(out, chains.remembered, chains.remembered_count);
  fprintf(out, "in full:\n");
  PrintFrames(out, chains.full, chains.full_count);
}

void PrintReport(FILE* out) {
  const Agent& a = *agent;
  const auto percent = [](uint64_t part, uint64_t whole) {
    return whole != 0 ? 100.0 * static_cast<double>(part) / static_cast<double>(whole) : 100.0;
  };
  const uint64_t roots = a.samples - a.ends[static_cast<int>(ChainEnd::kFailed)];
  fprintf(out,
          "samples %lu weight %lu root %.3f%% (certain %.3f%%, guessed %lu, with hole %lu) "
          "java root %.3f%% of %lu; frames avg %.1f max %lu; raw methods %lu\n",
          a.samples, a.weight, percent(roots, a.samples), percent(a.ends[0], a.samples), a.ends[1],
          a.ends[2], percent(a.java_roots, a.java_samples), a.java_samples,
          a.samples != 0 ? static_cast<double>(a.frames) / static_cast<double>(a.samples) : 0.0,
          a.deepest, a.raw_methods);
  const sampling::HandlerCost cost = a.sampler->Cost();
  fprintf(out, "handler ns: avg %lu p50 %lu p99 %lu; timer %s\n", cost.average_ns, cost.p50_ns,
          cost.p99_ns, a.sampler->timer_in_use() == sampling::TimerKind::kPerf ? "perf" : "posix");
  if (a.settings.sampler.check_memory) {
    fprintf(out, "chains compared with a full walk: %lu\n",
            hot::sample_counters.memory_checked.load());
  }
  for (const auto& loss : a.sampler->Losses()) {
    fprintf(out, "loss %s %lu\n", loss.name.c_str(), loss.count);
  }
  for (const auto& [what, count] : a.failures)
    fprintf(out, "failed %lu: %s\n", count, what.c_str());
  fprintf(out, "%s\n", a.paths.Summary().c_str());
  PrintDifferentChains(out);
  PrintSteps(out, PrintFrames);
}

void CheckResult() {
  const Agent& a = *agent;
  const uint64_t failed = a.ends[static_cast<int>(ChainEnd::kFailed)];
  const double root = 100.0 * static_cast<double>(a.samples - failed) /
                      static_cast<double>(std::max<uint64_t>(a.samples, 1));
  const bool enough = a.samples >= a.settings.min_samples;
  // Chains that are cut short cannot be compared: of the others there must be some.
  const bool any_checked = hot::sample_counters.memory_checked.load() != 0;
  const bool remembered_right = hot::sample_counters.memory_wrong.load() == 0 &&
                                (any_checked || !a.settings.sampler.check_memory);
  if (enough && remembered_right && SteppedRight() && root >= a.settings.min_root &&
      a.paths.Ok(a.settings.max_inexact, a.settings.max_unequal))
    return;
  fprintf(stderr, "walker_agent: FAILED: %lu samples, %.3f%% reach the root\n", a.samples, root);
  PrintReport(stderr);
  _exit(3);
}

void JNICALL OnVmDeath(jvmtiEnv*, JNIEnv*) {
  agent->draining = false;
  agent->drainer.join();
  const auto status = agent->sampler->Stop();
  if (!status.ok()) fprintf(stderr, "walker_agent: %s\n", status.ToString().c_str());
  agent->sampler->Drain([](const hot::SampleView& sample) { Take(sample, true); });
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
  if (agent->sampler != nullptr) {
    agent->sampler->AddDynamicCode(name, address, static_cast<uint32_t>(length));
  }
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
  auto sampler = Sampler::Create(agent->settings.sampler,
                                 reinterpret_cast<const void*>(vm->functions->GetEnv));
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
  // Enabled, the compilers keep debug information at every instruction, not at calls only.
  callbacks.CompiledMethodLoad = [](jvmtiEnv*, jmethodID, jint, const void* code, jint,
                                    const jvmtiAddrLocationMap*, const void* compile_info) {
    agent->sampler->NoteCompiledCode(code, compile_info);
  };
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
