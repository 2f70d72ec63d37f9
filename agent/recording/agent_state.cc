#include "agent/recording/agent_state.h"

#include <utility>

#include "absl/container/flat_hash_set.h"
#include "agent/recording/counted_threads.h"
#include "agent/recording/recording.h"
#include "agent/recording/resting_probes.h"

namespace jtrace {
namespace {

// Forgets unloaded classes that no unwritten record names. On the writer thread, or on another
// one while the writer has no work. Returns how many classes are known afterwards.
size_t Forget(AgentState& agent, jvm::UnloadedClasses::Batch unloaded) {
  Registries& registries = agent.jvm.registries;
  TraceState& trace = agent.jvm.trace;
  absl::erase_if(unloaded.classes, [&](uint32_t id) { return registries.classes.IsLoaded(id); });
  const auto forgotten = trace.encoder.Forget(unloaded.classes, unloaded.loaders);
  registries.loaders.Forget(forgotten, unloaded.loaders);
  absl::flat_hash_set<uint32_t> classes;
  for (const trace::ForgottenClass& it : forgotten) classes.insert(it.id);
  registries.classes.Forget(classes);
  registries.redefined.Forget(classes);
  if (Recording* recording = agent.recording_being_written.load(); recording != nullptr)
    recording->Forget(classes);
  if (RestingProbes* resting = agent.probes.resting.load(); resting != nullptr) {
    resting->instrumentation().Forget(classes);
  }
  trace.unprobed.Forget(classes);
  return trace.encoder.classes();
}

}  // namespace

EventState::EventState(JvmState& jvm, metrics::JvmMetrics& metrics,
                       std::function<uint32_t()> number_of_caller)
    : segments(jvm.trace.clock, jvm.trace.encoder, jvm.trace.limited_events, jvm.trace.losses,
               std::move(number_of_caller)),
      recorders({.vm = jvm.vm,
                 .classes = jvm.registries.classes,
                 .clock = jvm.trace.clock,
                 .threads = jvm.registries.threads,
                 .encoder = jvm.trace.encoder,
                 .limits = jvm.trace.limited_events,
                 .losses = jvm.trace.losses,
                 .io = metrics.io()}) {
  recorders.Add(segments);
}

AgentState::AgentState(JavaVM* vm, jvmtiEnv* env)
    : jvm(vm, env),
      metrics(*metrics::JvmMetrics::Create(vm, jvm.registries.thread_table)),
      events(jvm, metrics, [this] { return TraceIdOfCallingThread(*this); }),
      probes(jvm.trace.losses),
      code_reports(env),
      hooks(jvm.trace.losses),
      unloaded(
          [this](jvm::UnloadedClasses::Batch batch) { return Forget(*this, std::move(batch)); },
          [this] {
            Recording* recording = recording_being_written.load();
            return recording != nullptr && recording->IsBehind();
          }) {}

}  // namespace jtrace
