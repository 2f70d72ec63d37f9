#include "agent/recording/jvm_parts.h"

#include <array>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "agent/recording/counted_threads.h"
#include "agent/recording/recording.h"
#include "agent/recording/resting_probes.h"

namespace jtrace {
namespace {

// On the writer's thread, or where it has no work: no record still to be written names these.
// Returns how many classes are known afterwards.
size_t Forget(JvmParts& jvm, jvm::UnloadedClasses::Batch unloaded) {
  Registries& registries = jvm.registries;
  absl::erase_if(unloaded.classes, [&](uint32_t id) { return registries.classes.IsLoaded(id); });
  const auto forgotten = jvm.trace.encoder.Forget(unloaded.classes, unloaded.loaders);
  registries.loaders.Forget(forgotten, unloaded.loaders);
  absl::flat_hash_set<uint32_t> classes;
  for (const trace::ForgottenClass& it : forgotten) classes.insert(it.id);
  registries.classes.Forget(classes);
  if (Recording* recording = jvm.written.load(); recording != nullptr) recording->Forget(classes);
  if (RestingProbes* resting = jvm.resting.load(); resting != nullptr) {
    resting->instrumentation().Forget(classes);
  }
  jvm.trace.unprobed.Forget(classes);
  return jvm.trace.encoder.classes();
}

constexpr std::array kEarlyEvents = {JVMTI_EVENT_VM_INIT, JVMTI_EVENT_VM_DEATH,
                                     JVMTI_EVENT_THREAD_START, JVMTI_EVENT_THREAD_END,
                                     JVMTI_EVENT_OBJECT_FREE};
constexpr std::array kStubEvents = {JVMTI_EVENT_DYNAMIC_CODE_GENERATED};
constexpr std::array kLiveEvents = {JVMTI_EVENT_THREAD_START, JVMTI_EVENT_CLASS_PREPARE,
                                    JVMTI_EVENT_GARBAGE_COLLECTION_START,
                                    JVMTI_EVENT_GARBAGE_COLLECTION_FINISH};
constexpr std::array kLastingEvents = {JVMTI_EVENT_VM_DEATH, JVMTI_EVENT_THREAD_END,
                                       JVMTI_EVENT_OBJECT_FREE};
constexpr std::array kServingEvents = {JVMTI_EVENT_VM_INIT, JVMTI_EVENT_VM_DEATH,
                                       JVMTI_EVENT_THREAD_END, JVMTI_EVENT_OBJECT_FREE};
constexpr std::array kThreadStarts = {JVMTI_EVENT_THREAD_START};
constexpr std::array kVirtualThreadStarts = {jvm::kVirtualThreadStart};
constexpr std::array kVirtualThreadEnds = {jvm::kVirtualThreadEnd};
constexpr std::array kClassFileEvents = {JVMTI_EVENT_CLASS_FILE_LOAD_HOOK};
constexpr std::array kBindEvents = {JVMTI_EVENT_NATIVE_METHOD_BIND};

}  // namespace

Registries::Registries(JavaVM* vm, jvmtiEnv* env, TraceParts& trace)
    : loaders(vm, env),
      classes(vm, env, trace.clock, loaders, trace.encoder),
      code(env, trace.clock, classes, trace.encoder,
           reinterpret_cast<const void*>(vm->functions->GetEnv)),
      threads(env, trace.clock, trace.encoder),
      groups(threads, trace.encoder) {}

JvmParts::JvmParts(JavaVM* vm, jvmtiEnv* env)
    : vm(vm),
      env(env),
      registries(vm, env, trace),
      extra_events(vm, trace.clock, registries.threads, trace.encoder, trace.limited_events,
                   trace.losses),
      metrics(metrics::JvmMetrics::Create(vm)),
      io_records(metrics->io(), trace.clock, registries.threads, trace.encoder,
                 trace.limited_events, trace.losses),
      waited_records(vm, trace.clock, registries.threads, trace.encoder, trace.limited_events,
                     trace.losses),
      segments(trace.clock, trace.encoder, trace.limited_events, trace.losses,
               [this] { return NumberOfCaller(*this); }),
      hooks(trace.losses),
      unloaded(
          [this](jvm::UnloadedClasses::Batch batch) { return Forget(*this, std::move(batch)); },
          [this] {
            Recording* recording = written.load();
            return recording != nullptr && recording->IsBehind();
          }) {}

bool JvmParts::IsAgentThread(pid_t tid) const {
  const samples::Sampler* const sampling = sampler.load();
  return tid == agent_threads.control.load(std::memory_order_relaxed) ||
         tid == agent_threads.clients.load(std::memory_order_relaxed) || tid == writer.os_tid() ||
         (sampling != nullptr && sampling->Owns(tid));
}

const void* JvmParts::libjvm_address() const {
  return reinterpret_cast<const void*>(vm->functions->GetEnv);
}

jvm::CodeReader* JvmParts::code_reader() const {
  samples::Sampler* const made = sampler.load();
  return made == nullptr ? nullptr : &made->jvm();
}

jvmtiCapabilities WantedCapabilities(const Options& options) {
  jvmtiCapabilities wanted = {};
  wanted.can_tag_objects = 1;
  wanted.can_generate_object_free_events = 1;
  wanted.can_generate_garbage_collection_events = 1;
  wanted.can_generate_native_method_bind_events = 1;
  wanted.can_generate_compiled_method_load_events = 1;
  if (options.WantsEvents()) {
    wanted.can_generate_all_class_hook_events = 1;
    wanted.can_retransform_classes = 1;
    wanted.can_get_bytecodes = 1;
  }
  return wanted;
}

absl::Status EnableEarlyEvents(JvmParts& jvm, const Options& options) {
  absl::Status status = jvm.code_reports.Expect(options);
  if (options.WantsStubs()) status.Update(jvm::EnableEvents(jvm.env, kStubEvents));
  status.Update(jvm::EnableEvents(jvm.env, kEarlyEvents));
  return status;
}

absl::Status EnableServingEvents(jvmtiEnv* env) { return jvm::EnableEvents(env, kServingEvents); }

absl::Status EnableLastingEvents(jvmtiEnv* env) { return jvm::EnableEvents(env, kLastingEvents); }

void EnableRecordedEvents(JvmParts& jvm, const Options& options) {
  jvm::EnableEvents(jvm.env, kLiveEvents).IgnoreError();
  if (options.WantsStubs()) jvm::EnableEvents(jvm.env, kStubEvents).IgnoreError();
  jvm.code_reports.Start(options, jvm.code_reader());
  jvm.extra_events.Start(options.codes);
  jvm.io_records.Start(options.codes);
  jvm.waited_records.Start(options.codes);
  jvm.sees_virtual_ends.store(jvm.granted.virtual_threads && options.WantsEvents());
  jvm.segments.Start(options.codes);
  if (!jvm.sees_virtual_ends.load()) return;
  jvm::EnableEvents(jvm.env, kVirtualThreadStarts).IgnoreError();
  jvm::EnableEvents(jvm.env, kVirtualThreadEnds).IgnoreError();
}

absl::Status EnableClassFileEvents(jvmtiEnv* env) {
  return jvm::EnableEvents(env, kClassFileEvents);
}

void DisableClassFileEvents(jvmtiEnv* env) {
  jvm::DisableEvents(env, kClassFileEvents).IgnoreError();
}

void EnableBindEvents(jvmtiEnv* env) { jvm::EnableEvents(env, kBindEvents).IgnoreError(); }

void CountThreads(JvmParts& jvm) {
  jvm.counts_threads.store(true);
  jvm::EnableEvents(jvm.env, kThreadStarts).IgnoreError();
}

void DisableRecordedEvents(JvmParts& jvm) {
  jvm.metrics->StopSources(jvm.trace.losses);
  jvm.extra_events.Stop();
  jvm.io_records.Stop();
  jvm.waited_records.Stop();
  jvm.segments.Stop();
  jvm::DisableEvents(jvm.env, kLiveEvents).IgnoreError();
  jvm::DisableEvents(jvm.env, kStubEvents).IgnoreError();
  jvm.code_reports.Stop();
  jvm::DisableEvents(jvm.env, kBindEvents).IgnoreError();
  if (jvm.counts_threads.load()) CountThreads(jvm);
  if (jvm.granted.virtual_threads) {
    jvm::DisableEvents(jvm.env, kVirtualThreadStarts).IgnoreError();
  }
}

}  // namespace jtrace
