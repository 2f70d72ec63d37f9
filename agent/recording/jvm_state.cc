#include "agent/recording/jvm_state.h"

#include <utility>

#include "absl/container/flat_hash_set.h"
#include "agent/recording/counted_threads.h"
#include "agent/recording/recording.h"
#include "agent/recording/resting_probes.h"

namespace jtrace {
namespace {

// Forgets unloaded classes that no unwritten record names. On the writer thread, or on another
// one while the writer has no work. Returns how many classes are known afterwards.
size_t Forget(JvmState& jvm, jvm::UnloadedClasses::Batch unloaded) {
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

}  // namespace

Registries::Registries(JavaVM* vm, jvmtiEnv* env, TraceState& trace)
    : loaders(vm, env),
      classes(vm, env, trace.clock, loaders, trace.encoder),
      code(env, trace.clock, classes, trace.encoder,
           reinterpret_cast<const void*>(vm->functions->GetEnv)),
      threads(thread_table, env, trace.clock, trace.encoder),
      groups(threads, trace.encoder) {}

JvmState::JvmState(JavaVM* vm, jvmtiEnv* env)
    : vm(vm),
      env(env),
      registries(vm, env, trace),
      metrics(metrics::JvmMetrics::Create(vm, registries.thread_table)),
      segments(trace.clock, trace.encoder, trace.limited_events, trace.losses,
               [this] { return NumberOfCaller(*this); }),
      event_sources({.vm = vm,
                     .classes = registries.classes,
                     .clock = trace.clock,
                     .threads = registries.threads,
                     .encoder = trace.encoder,
                     .limits = trace.limited_events,
                     .losses = trace.losses,
                     .io = metrics->io()}),
      hooks(trace.losses),
      unloaded(
          [this](jvm::UnloadedClasses::Batch batch) { return Forget(*this, std::move(batch)); },
          [this] {
            Recording* recording = written.load();
            return recording != nullptr && recording->IsBehind();
          }) {
  event_sources.Add(segments);
}

const void* JvmState::libjvm_address() const {
  return reinterpret_cast<const void*>(vm->functions->GetEnv);
}

jvm::CompiledCodeListener* JvmState::code_listener() {
  return sampler.load() == nullptr ? nullptr : &view;
}

}  // namespace jtrace
