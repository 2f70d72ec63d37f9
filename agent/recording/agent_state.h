// All that lives as long as the JVM: successive recordings share it. Most parts of a recording get
// only what they use.
//
// Each member's header says which threads may use it. Never freed (jvm_state.h).
#pragma once

#include <jvmti.h>
#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <functional>

#include "agent/base/thread_priority_boost.h"
#include "agent/base/worker_thread.h"
#include "agent/calls/instrument/call_site_table.h"
#include "agent/calls/probe_sets.h"
#include "agent/events/event_recorders.h"
#include "agent/events/segments.h"
#include "agent/jvm/gc_cause.h"
#include "agent/jvm/unloaded_classes.h"
#include "agent/metrics/jvm_metrics.h"
#include "agent/metrics/thread_descendants.h"
#include "agent/native_hooks/hooks.h"
#include "agent/recording/compiled_code_reports.h"
#include "agent/recording/jvm_state.h"

namespace jtrace {

class Recording;
class RestingProbes;

// The events that are recorded on request, and which of the JVM's own stay on.
struct EventState {
  // `number_of_caller`: see Segments.
  EventState(JvmState& jvm, metrics::JvmMetrics& metrics,
             std::function<uint32_t()> number_of_caller);

  jvm::GcCause gc_cause;
  std::atomic<bool> counts_threads{false};  // threads' metrics were requested, recording or not
  // Whether the recording sees the ends of virtual threads, and so can give them numbers.
  std::atomic<bool> sees_virtual_ends{false};
  events::Segments segments;
  events::EventRecorders recorders;
};

// The probes of all recordings.
struct ProbeState {
  explicit ProbeState(Losses& losses) : call_sites(losses) {}

  calls::ProbeSets sets;
  calls::CallSiteTable call_sites;
  // The JIT's compilers, by the kernel's names.
  ThreadPriorityBoost compilers{{"C1 CompilerThre", "C2 CompilerThre", "JVMCI CompilerT"}};
  // probes=resting; null: there are none. Set once.
  std::atomic<RestingProbes*> resting{nullptr};
  bool has_retransformed = false;  // on the threads of a start and a stop
  uint64_t tree_memory = 0;  // bytes without memory=; 0: not computed; on the thread of a start
};

struct AgentState {
  AgentState(JavaVM* vm, jvmtiEnv* env);

  JvmState jvm;
  metrics::JvmMetrics& metrics;
  metrics::ThreadDescendants descendants;
  EventState events;
  ProbeState probes;
  CompiledCodeReports code_reports;
  native_hooks::Hooks hooks;
  jvm::UnloadedClasses unloaded;
  WorkerThread writer{"jtrace writer"};
  // Kernel id of the control thread, which is never recorded; 0: it is not started.
  std::atomic<pid_t> control_thread{0};
  // The recording that the writer thread writes; changed only while that thread has no work.
  std::atomic<Recording*> recording_being_written{nullptr};
};

}  // namespace jtrace
