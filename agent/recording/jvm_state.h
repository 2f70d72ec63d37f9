// The parts that live as long as the JVM: successive recordings share them.
//
// Each part's header says which threads may use it. Never freed: JVMTI callbacks, and probes of
// activations that began before a stop, may still use it.
#pragma once

#include <jvmti.h>
#include <sys/types.h>

#include <atomic>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "agent/base/clock.h"
#include "agent/base/losses.h"
#include "agent/base/preferred_threads.h"
#include "agent/calls/instrument/call_site_table.h"
#include "agent/calls/instrument/unprobed_classes.h"
#include "agent/calls/probe_sets.h"
#include "agent/events/event_sources.h"
#include "agent/events/segments.h"
#include "agent/jvm/class_registry.h"
#include "agent/jvm/compiled_code_registry.h"
#include "agent/jvm/gc_cause.h"
#include "agent/jvm/jvm_view.h"
#include "agent/jvm/jvmti_environment.h"
#include "agent/jvm/loader_numbers.h"
#include "agent/jvm/redefined_classes.h"
#include "agent/jvm/thread_groups.h"
#include "agent/jvm/thread_registry.h"
#include "agent/jvm/unloaded_classes.h"
#include "agent/metrics/jvm_metrics.h"
#include "agent/metrics/thread_families.h"
#include "agent/native_hooks/hooks.h"
#include "agent/options/options.h"
#include "agent/recording/code_reports.h"
#include "agent/samples/sampler.h"
#include "agent/trace/label_sets.h"
#include "agent/trace/limited_events.h"
#include "agent/trace/record_encoder.h"
#include "agent/trace/trace_writer.h"

namespace jtrace {

// The numbers, records and losses of the trace.
struct TraceState {
  RecordingClock clock;
  Losses losses;
  trace::RecordEncoder encoder{{}};
  trace::LabelSets labels;
  calls::UnprobedClasses unprobed{clock, encoder, losses};
  trace::LimitedEvents limited_events{losses};
};

// The classes, threads and code of this JVM.
struct Registries {
  Registries(JavaVM* vm, jvmtiEnv* env, TraceState& trace);

  jvm::LoaderNumbers loaders;
  jvm::ClassRegistry classes;
  jvm::CompiledCodeRegistry code;
  jvm::ThreadTable thread_table;
  jvm::ThreadRegistry threads;
  jvm::ThreadGroups groups;
  jvm::RedefinedClasses redefined;
};

class Recording;
class RestingProbes;

struct JvmState {
  JvmState(JavaVM* vm, jvmtiEnv* env);

  // An address inside libjvm.
  const void* libjvm_address() const;
  // Null: no sampler was made yet.
  jvm::CompiledCodeListener* code_listener();

  JavaVM* const vm;
  jvmtiEnv* const env;
  jvm::Granted granted;              // constant after the agent's start
  std::atomic<bool> is_live{false};  // the program runs before the next recording begins
  // The agent was not there when the JVM started: HotSpot has compiled code whose dependencies on
  // other classes' code it does not know, and discards all of it when the first class changes.
  bool loaded_late = false;                 // constant after the agent's start
  bool has_retransformed = false;           // on the threads of a start and a stop
  std::atomic<bool> counts_threads{false};  // threads' metrics were requested, recording or not
  TraceState trace;
  Registries registries;
  jvm::GcCause gc_cause;
  metrics::JvmMetrics* const metrics;
  // Whether the recording sees the ends of virtual threads, and so can give them numbers.
  std::atomic<bool> sees_virtual_ends{false};
  events::Segments segments;
  events::EventSources event_sources;
  metrics::ThreadFamilies families;
  calls::ProbeSets probe_sets;
  // The JIT's compilers, by the kernel's names.
  PreferredThreads compilers{{"C1 CompilerThre", "C2 CompilerThre", "JVMCI CompilerT"}};
  calls::CallSiteTable call_sites{trace.losses};
  // probes=resting; null: there are none. Set once.
  std::atomic<RestingProbes*> resting{nullptr};
  uint64_t tree_memory = 0;  // bytes without memory=; 0: not computed; on the thread of a start
  jvm::JvmView view;         // read when the sampler is made
  std::atomic<samples::Sampler*> sampler{nullptr};  // made once
  CodeReports code_reports{env};
  native_hooks::Hooks hooks;
  jvm::UnloadedClasses unloaded;
  ReusableThread writer{"jtrace writer"};
  // Kernel id of the control thread, which is never recorded; 0: it is not started.
  std::atomic<pid_t> control_thread{0};
  // The recording that the writer thread writes; changed only while that thread has no work.
  std::atomic<Recording*> written{nullptr};
};

}  // namespace jtrace
