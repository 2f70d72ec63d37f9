// The parts that live as long as the JVM: successive recordings share them.
//
// Each part's header says which threads may use it. Never freed: JVMTI callbacks, and probes of
// activations that began before a stop, may still use it.
#pragma once

#include <jvmti.h>
#include <sys/types.h>

#include <atomic>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "agent/base/clock.h"
#include "agent/base/losses.h"
#include "agent/base/preferred_threads.h"
#include "agent/events/extra_events.h"
#include "agent/events/io_records.h"
#include "agent/events/waited_records.h"
#include "agent/hotspot/gc_cause.h"
#include "agent/instrument/place_table.h"
#include "agent/instrument/unprobed_classes.h"
#include "agent/jvmti/class_registry.h"
#include "agent/jvmti/code_registry.h"
#include "agent/jvmti/env.h"
#include "agent/jvmti/loader_numbers.h"
#include "agent/jvmti/redefined_classes.h"
#include "agent/jvmti/thread_registry.h"
#include "agent/metrics/jvm_metrics.h"
#include "agent/metrics/segments.h"
#include "agent/metrics/thread_families.h"
#include "agent/native_hooks/hooks.h"
#include "agent/probes/probe_sets.h"
#include "agent/sampling/sampler.h"
#include "agent/session/code_reports.h"
#include "agent/sources/lasting_thread.h"
#include "agent/sources/thread_groups.h"
#include "agent/sources/unloaded_classes.h"
#include "agent/trace/label_sets.h"
#include "agent/trace/limited_events.h"
#include "agent/trace/record_encoder.h"

namespace jtrace {

// The numbers, records and losses of the trace.
struct TraceParts {
  SessionClock clock;
  Losses losses;
  trace::RecordEncoder encoder{{}};
  trace::LabelSets labels;
  UnprobedClasses unprobed{clock, encoder, losses};
  LimitedEvents limited_events{losses};
};

// The classes, threads and code of this JVM.
struct Registries {
  Registries(JavaVM* vm, jvmtiEnv* env, TraceParts& trace);

  jvmti::LoaderNumbers loaders;
  jvmti::ClassRegistry classes;
  jvmti::CodeRegistry code;
  jvmti::ThreadRegistry threads;
  trace::ThreadGroups groups;
  jvmti::RedefinedClasses redefined;
};

// Kernel ids of the agent's own threads; 0: not started.
struct AgentThreads {
  std::atomic<pid_t> control{0};  // answers `jtrace`: never recorded
  std::atomic<pid_t> clients{
      0};  // its clients are connected to it: never sampled, never a Java thread
};

class Recording;
class RestingProbes;

struct JvmParts {
  JvmParts(JavaVM* vm, jvmtiEnv* env);

  // The writer and the agent's other threads: neither sampled nor recorded.
  bool IsAgentThread(pid_t tid) const;
  // An address inside libjvm.
  const void* libjvm_address() const;

  JavaVM* const vm;
  jvmtiEnv* const env;
  jvmti::Granted granted;            // constant after the agent's start
  std::atomic<bool> is_live{false};  // the program already runs when a recording begins
  // The agent was not there when the JVM started: HotSpot has compiled code whose dependencies on
  // other classes' code it does not know, and discards all of it when the first class changes.
  bool loaded_late = false;                 // constant after the agent's start
  bool has_retransformed = false;           // on the threads of a start and a stop
  std::atomic<bool> counts_threads{false};  // threads' metrics were requested, recording or not
  TraceParts trace;
  Registries registries;
  events::ExtraEvents extra_events;
  jvmti::GcCause gc_cause;
  metrics::JvmMetrics* const metrics;
  events::IoRecords io_records;
  events::WaitedRecords waited_records;
  // Whether the recording sees the ends of virtual threads, and so can give them numbers.
  std::atomic<bool> sees_virtual_ends{false};
  metrics::Segments segments;
  metrics::ThreadFamilies families;
  ProbeSets probe_sets;
  // The JIT's compilers, by the kernel's names.
  PreferredThreads compilers{{"C1 CompilerThre", "C2 CompilerThre", "JVMCI CompilerT"}};
  PlaceTable places{trace.losses};
  // probes=resting; null: there are none. Set once.
  std::atomic<RestingProbes*> resting{nullptr};
  uint64_t tree_memory = 0;  // without memory=; 0: not computed yet; on the thread of a start
  std::atomic<sampling::Sampler*> sampler{nullptr};  // made once
  CodeReports code_reports{env};
  native_hooks::Hooks hooks;
  UnloadedClasses unloaded;
  trace::LastingThread writer{"jtrace writer"};
  AgentThreads agent_threads;
  // The recording that the writer's thread writes; changed only while that thread has no work.
  std::atomic<Recording*> written{nullptr};
};

}  // namespace jtrace
