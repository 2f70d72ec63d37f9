// What every part of a recording needs of the JVM: its environment, what is known of its classes,
// threads and code, and the trace that names them. Successive recordings share it.
//
// Each member's header says which threads may use it. Never freed: JVMTI callbacks, and probes of
// activations that began before a stop, may still use it.
#pragma once

#include <jvmti.h>

#include <atomic>

#include "agent/base/clock.h"
#include "agent/base/losses.h"
#include "agent/calls/instrument/unprobed_classes.h"
#include "agent/jvm/class_registry.h"
#include "agent/jvm/compiled_code_registry.h"
#include "agent/jvm/hot_spot_internals.h"
#include "agent/jvm/jvmti_environment.h"
#include "agent/jvm/loader_ids.h"
#include "agent/jvm/redefined_classes.h"
#include "agent/jvm/thread_registry.h"
#include "agent/jvm/thread_table.h"
#include "agent/jvm/thread_tree_groups.h"
#include "agent/samples/sampler.h"
#include "agent/trace/event_rate_limiter.h"
#include "agent/trace/label_sets.h"
#include "agent/trace/record_encoder.h"

namespace jtrace {

// The numbers, records and losses of the trace.
struct TraceState {
  RecordingClock clock;
  Losses losses;
  trace::RecordEncoder encoder{{}};
  trace::LabelSets labels;
  calls::UnprobedClasses unprobed{clock, encoder, losses};
  trace::EventRateLimiter limited_events{losses};
};

// The classes, threads and code of this JVM.
struct Registries {
  Registries(JavaVM* vm, jvmtiEnv* env, TraceState& trace);

  jvm::LoaderIds loaders;
  jvm::ClassRegistry classes;
  jvm::CompiledCodeRegistry code;
  jvm::ThreadTable thread_table;
  jvm::ThreadRegistry threads;
  jvm::ThreadTreeGroups groups;
  jvm::RedefinedClasses redefined;
};

struct JvmState {
  JvmState(JavaVM* vm, jvmtiEnv* env) : vm(vm), env(env), registries(vm, env, trace) {}

  // An address inside libjvm.
  const void* libjvm_address() const;
  // Null: no sampler was made yet.
  jvm::DebugInfoKeeper* debug_info_keeper();

  JavaVM* const vm;
  jvmtiEnv* const env;
  jvm::GrantedCapabilities granted;  // constant after the agent's start
  // The program runs already, so a recording that begins has to find its threads and classes.
  std::atomic<bool> program_runs{false};
  // The agent was not there when the JVM started: HotSpot has compiled code whose dependencies on
  // other classes' code it does not know, and discards all of it when the first class changes.
  bool loaded_late = false;  // constant after the agent's start
  TraceState trace;
  Registries registries;
  jvm::HotSpotInternals hotspot;                    // read when the sampler is made
  std::atomic<samples::Sampler*> sampler{nullptr};  // made once
};

}  // namespace jtrace
