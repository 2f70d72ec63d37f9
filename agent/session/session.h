// The agent in one JVM: owns its parts and says in which order they start and stop.
//
// Life: OpenAtLoad → VmInit, or OpenLive; then Start and Stop in turn, as often as one likes;
// VmDeath ends what is running. Never freed: JVMTI callbacks, and probes of activations that began
// before a stop, may still use it.
//
// Threads: Start, Stop and the other commands on any Java thread, one at a time (lifecycle_); every
// callback on the thread that JVMTI says (see agent/README.md); GcStart and GcFinish inside a
// safepoint, where neither JNI nor JVMTI may be called.
#pragma once

#include <jvmti.h>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "agent/base/clock.h"
#include "agent/base/losses.h"
#include "agent/base/name_filter.h"
#include "agent/hooks/hooks.h"
#include "agent/hot/inflight.h"
#include "agent/hotspot/gc_cause.h"
#include "agent/instrument/instrumentation.h"
#include "agent/instrument/unprobed_classes.h"
#include "agent/jvmti/app_scope.h"
#include "agent/jvmti/class_registry.h"
#include "agent/jvmti/code_registry.h"
#include "agent/jvmti/env.h"
#include "agent/jvmti/extra_events.h"
#include "agent/jvmti/loader_numbers.h"
#include "agent/jvmti/redefined_classes.h"
#include "agent/jvmti/thread_registry.h"
#include "agent/metrics/jvm_metrics.h"
#include "agent/metrics/metrics_report.h"
#include "agent/metrics/thread_families.h"
#include "agent/metrics/tree_windows.h"
#include "agent/options/options.h"
#include "agent/probes/probe_sets.h"
#include "agent/sampling/sampler.h"
#include "agent/session/log.h"
#include "agent/sources/drain_thread.h"
#include "agent/sources/hook_source.h"
#include "agent/sources/lasting_thread.h"
#include "agent/sources/log_source.h"
#include "agent/sources/metric_source.h"
#include "agent/sources/sample_source.h"
#include "agent/sources/system_source.h"
#include "agent/sources/thread_groups.h"
#include "agent/sources/tree_source.h"
#include "agent/sources/unloaded_classes.h"
#include "agent/trace/limited_events.h"
#include "agent/trace/trace_file.h"

namespace jtrace {

namespace control {
class SessionControl;
}

// Told of how far a start or stop has come; may be null.
using Progress = std::function<void(absl::string_view)>;

class Session {
 public:
  // Agent_OnLoad: takes capabilities, opens the trace file, prepares the sampler. What fails here
  // fails before the program runs. Recording begins in VmInit.
  static absl::StatusOr<Session*> OpenAtLoad(JavaVM* vm, const Options& options);
  // In a JVM that runs already (Agent_OnAttach): nothing is recorded until Start.
  static absl::StatusOr<Session*> OpenLive(JavaVM* vm, JNIEnv* jni);

  // Begins a recording: classes in scope that are loaded already get their probes in batches.
  // Errors leave everything as it was, the file at out= too. Returns what is recorded where, for
  // people.
  absl::StatusOr<std::string> Start(JNIEnv* jni, const Options& options, const Progress& progress);
  // Start with the options of the last recording, into another file.
  absl::StatusOr<std::string> Resume(JNIEnv* jni, const Progress& progress);
  // Ends the recording: timers off, probes out of all classes, the trace complete. The program then
  // runs as it did without jtrace, but for loops that it stands in (jvmti/running_loops.h). After a
  // failure it takes out what is left and says why. Returns what was written, for people.
  absl::StatusOr<std::string> Stop(JNIEnv* jni, const Progress& progress);

  // Everything recorded so far is in the file, whose path is returned.
  absl::StatusOr<std::string> Flush();
  // Ends the file and goes on in the next one; returns the path of the one that ended.
  absl::StatusOr<std::string> NextFile();
  // NextFile with loop=, else Flush.
  absl::StatusOr<std::string> Dump();
  // A labelled mark in the trace (0x8/0x3).
  absl::Status Mark(absl::string_view text);
  absl::StatusOr<std::string> DescribeStatus();
  // What threads have counted, with or without a recording.
  metrics::MetricsReport CollectMetrics(JNIEnv* jni);
  // The calling thread is counted from here on, as the Java thread that it may be. Its numbers;
  // none: no memory.
  std::optional<metrics::ThreadCounters::Identity> MeetCaller();
  // All Java threads that run, and those that begin.
  void MeetThreads(JNIEnv* jni);

  // Calls `ask` on the writer thread with the recording's call trees. Errors: FailedPrecondition:
  // there are none. For SessionQuestions, as are the parts below.
  absl::Status AskTrees(const std::function<void(metrics::TreeWindows&)>& ask);
  // What `jtrace VERB PID ARGUMENT` prints. On a Java thread.
  absl::StatusOr<std::string> RunCommand(absl::string_view verb, absl::string_view argument);
  JavaVM* vm() const { return vm_; }
  // The loaded classes that implement an interface or extend an abstract class
  // (jvmti/implementors).
  absl::flat_hash_set<std::string> ImplementorsOf(absl::string_view class_name);
  metrics::JvmMetrics& metrics() { return *metrics_; }
  metrics::ThreadFamilies& families() { return families_; }
  const PathMetrics& path_metrics() const { return path_metrics_; }
  writer::RecordEncoder& encoder() { return encoder_; }

  // What duration=, loop= or a failure asks for, and when to look again at the latest.
  struct Due {
    enum What { kNothing, kStop, kNextFile, kCleanUp, kAddProbes } what = kNothing;
    absl::Time next = absl::InfiniteFuture();
  };
  Due WhatIsDue(absl::Time now);
  // Classes that were being loaded when the recording began get their probes.
  void AddProbesToLateClasses(JNIEnv* jni);
  // Takes the probes out if the recording has failed.
  void CleanUpAfterFailure(JNIEnv* jni);
  // Puts hooks into native functions while a recording runs, or takes them out; without an argument
  // lists them. Returns what was done.
  absl::StatusOr<std::string> Hook(absl::string_view specs);
  // The thread that answers `jtrace`: never recorded.
  void SetControlThread(pid_t tid) { control_tid_.store(tid, std::memory_order_relaxed); }
  // The one that its clients are connected to: never sampled, and never a Java thread.
  void SetClientsThread(pid_t tid) { clients_tid_.store(tid, std::memory_order_relaxed); }

  void VmInit(JNIEnv* jni, jthread thread);
  void VmDeath();
  void ThreadStart(JNIEnv* jni, jthread thread);
  void ThreadEnd();
  void VirtualThreadStart(JNIEnv* jni, jthread thread);
  void VirtualThreadEnd(JNIEnv* jni, jthread thread);
  // `redefined`: the class runs already, and an agent changes it, perhaps jtrace itself; else null.
  void ClassFileLoad(jclass redefined, jobject loader, const char* name,
                     std::span<const unsigned char> bytes, jint* new_size,
                     unsigned char** new_bytes);
  void ClassPrepare(jclass klass);
  void ObjectFree(jlong tag);
  void CompiledMethodLoad(jmethodID method, jint size, const void* address,
                          const void* compile_info);
  void CompiledMethodUnload(jmethodID method, const void* address);
  void DynamicCode(const char* name, const void* address, jint size);
  void NativeMethodBind();
  void GcStart();
  void GcFinish();

 private:
  ~Session();
  explicit Session(JavaVM* vm, jvmtiEnv* env);
  static absl::StatusOr<Session*> Open(JavaVM* vm, const Options& options);

  // The steps of a start. Prepare: what can fail without a trace; Begin: the rest.
  absl::Status Prepare(const Options& options) ABSL_EXCLUSIVE_LOCKS_REQUIRED(lifecycle_);
  absl::Status Begin(JNIEnv* jni, const Progress& progress)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(lifecycle_);
  // Begin, where no memory or no thread is an error like others.
  absl::Status TryToBegin(JNIEnv* jni, const Progress& progress)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(lifecycle_);
  // Where out= says; what stands there is replaced by TraceFile::Begin.
  absl::StatusOr<std::unique_ptr<writer::TraceFile>> OpenFile() const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(lifecycle_);
  // An opened file is the recording's from here on.
  absl::Status BeginFile(writer::TraceFile& file) ABSL_EXCLUSIVE_LOCKS_REQUIRED(lifecycle_);
  absl::StatusOr<std::string> StartLocked(JNIEnv* jni, const Options& options,
                                          const Progress& progress)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(lifecycle_);
  void StartControl();
  // The agent came before the recording: what runs and is loaded has to be looked for at its start.
  void BeLive();
  // The program can ask (jtrace-api.jar).
  void DefineQuestions(JNIEnv* jni);
  // The calling thread begins: it may descend from one that measures its family.
  void JoinFamilies(JNIEnv* jni, uint64_t java_tid);
  // The thread has ended; its totals stay.
  void LeaveFamilies(uint64_t java_tid);
  // Which metrics are charged to call paths, and which are told by thread.
  absl::Status PrepareMetrics();
  absl::Status CreateInstrumentation();
  absl::Status CreateSampler();
  absl::Status StartProbes(JNIEnv* jni);
  uint64_t MemoryByDefault(JNIEnv* jni);
  // Counting begins anew, below the routine number `routines`; the source writes what is counted.
  std::unique_ptr<writer::ChunkSource> BeginCounting(uint32_t routines);
  void TellClock();
  absl::Status StartSampler(JNIEnv* jni);
  absl::Status StartAppScope();
  void StartHooks();
  void DisableBindEvents();
  // Says once what samples lack of the kernel, and what would give it.
  void TellKernelFrames();
  // Whether a Java thread is sampled (threads=).
  bool WantsThread(uint64_t java_tid) const;
  // The trace's number of the node that a sample belongs to.
  uint32_t TreePosition(uint64_t raw_node, jvmti::MethodKey innermost);
  void AdoptRunningThreads(JNIEnv* jni);
  void AttachRunningThreads(JNIEnv* jni);
  void StartWriter();
  void EnableLiveEvents();
  absl::Status EnableClassFileEvents();
  // Somebody asks for threads' metrics: their starts are told from here on, recording or not.
  void CountThreads();
  // On the writer thread: nothing that is still to be written names these. Returns how many classes
  // are known afterwards.
  size_t Forget(UnloadedClasses::Batch unloaded);
  // Another agent changes the class, to `bytes` and what follows.
  void ClassRedefine(jclass klass, const char* name, std::span<const unsigned char> bytes);
  // What JVMTI gives only at load becomes a loss.
  void TellWhatComesTooLate();

  // The steps of a stop.
  void DisableEvents();
  absl::Status EndTrace(proto::SessionEnd::Reason reason) ABSL_EXCLUSIVE_LOCKS_REQUIRED(lifecycle_);
  // Nothing of the recording is left but what activations of it may still touch.
  void CleanUp(JNIEnv* jni) ABSL_EXCLUSIVE_LOCKS_REQUIRED(lifecycle_);
  // Whether a failed recording's probes are still in: its clean-up is due.
  bool has_failed() const { return failed_.load(); }
  // Why the last recording ended by itself; "" if it did not.
  std::string failure() const;
  // The writer and whoever else works for the agent: neither sampled nor recorded. On the thread of
  // a start or on the writer.
  bool IsAgentThread(pid_t tid) const;

  struct NamedClass {
    uint32_t number = 0;  // ClassDef.id
    std::string name;
  };
  // The class if it is in scope and may change; one that may not is counted as a loss.
  std::optional<NamedClass> InScope(jclass klass);
  // The same if it has not passed the rewriter either and no loss says why.
  std::optional<NamedClass> WithoutProbes(jclass klass);
  // Loaded classes in scope get probes; those that have some lose them.
  void AddProbesToLoaded(JNIEnv* jni, const Progress& progress);
  void AddProbes(JNIEnv* jni, std::span<const jclass> classes, const Progress& progress);
  void AddProbesToPrepared(JNIEnv* jni);
  // A class is prepared: if it is in scope and has no probes, the control thread adds them.
  void NoteLateClass(jclass klass);
  void NoteOldMethods(std::span<const jclass> classes);
  void TellRunningLoops(JNIEnv* jni, std::span<const jclass> classes);
  void RemoveProbes(JNIEnv* jni, const Progress& progress);
  void RemoveProbesOnce(JNIEnv* jni, const Progress& progress);
  // Until the hooks, or all callbacks, that run have ended, a second at most.
  void WaitForClassHooks() const;
  void WaitForCallbacks() const;
  // A writer that fails says so first, and then ends what the recording began.
  void WaitForGivingUp() const;
  // A warning if nothing matched include=.
  void TellEmptyScope();
  // The same of threads= and unwind=.
  void TellUnmatchedThreads();
  void TellUnmatchedUnwinds();
  // Warnings so far, a line each, for who began the recording.
  std::string DescribeWarnings() const;

  proto::SessionStart DescribeStart() const;
  uint64_t calls() const;
  uint64_t file_calls() const;
  void FinishEnd(proto::SessionEnd::Reason reason, proto::SessionEnd& end) const;
  std::string DescribeEnd() const;
  std::string DescribeIdle() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(lifecycle_);
  // Ends the recording, tells why, and lets the program run on; the control thread takes the probes
  // out. Any thread that does not hold the encoder's mutex.
  void GiveUp(absl::string_view why);

  JavaVM* vm_;
  jvmtiEnv* env_;
  SessionClock clock_;
  // The recording's, or the last one's.
  Options options_;
  std::unique_ptr<Log> log_;
  Losses losses_;
  writer::RecordEncoder encoder_;
  UnprobedClasses unprobed_{clock_, encoder_, losses_};
  std::unique_ptr<writer::TraceFile> file_;
  jvmti::LoaderNumbers loaders_;
  jvmti::ClassRegistry classes_;
  jvmti::CodeRegistry code_;
  jvmti::ThreadRegistry threads_;
  writer::ThreadGroups groups_;
  jvmti::RedefinedClasses redefined_;
  std::unique_ptr<Instrumentation> instrumentation_;
  jvmti::Granted granted_;
  bool is_live_ = false;  // the program runs already when a recording begins
  LimitedEvents limited_events_;
  jvmti::ExtraEvents extra_events_;
  jvmti::GcCause gc_cause_;
  std::unique_ptr<sampling::Sampler> sampler_;
  NameFilter sampled_threads_;
  std::unique_ptr<jvmti::AppScope> app_scope_;  // stack=app, stack=appframe
  metrics::JvmMetrics* const metrics_;          // never freed
  std::vector<uint32_t> metric_numbers_;
  PathMetrics path_metrics_;
  metrics::ThreadFamilies families_;
  ProbeSets probe_sets_;
  uint64_t default_memory_ = 0;  // 0: not asked for yet
  // What the recording uses of probe_sets_; null: nothing.
  Probes* probes_ = nullptr;
  TreeCollector* trees_ = nullptr;   // record=tree, record=log
  FlatCollector* counts_ = nullptr;  // record=flat
  LogCollector* logs_ = nullptr;     // record=log
  std::unique_ptr<writer::SampleSource> sample_source_;
  std::unique_ptr<writer::ChunkSource> call_source_;
  hooks::Hooks hooks_{losses_};
  std::unique_ptr<writer::HookSource> hook_source_;  // where threads are known: with samples
  std::unique_ptr<metrics::TreeWindows> windows_;    // record=tree
  std::unique_ptr<writer::MetricSource> metric_source_;
  std::unique_ptr<writer::InternalThreadSource> internal_threads_;
  writer::ModuleSource module_source_;
  writer::LossSource loss_source_;
  writer::EndedThreadSource ended_threads_;
  UnloadedClasses unloaded_;
  writer::LastingThread writer_{"jtrace writer"};
  std::unique_ptr<writer::DrainThread> drain_;

  // Callbacks before and after a recording only register threads.
  std::atomic<bool> recording_{false};
  // All classes in scope that were loaded when the recording began have probes.
  std::atomic<bool> loaded_have_probes_{false};
  // Classes in scope that were not wait for the control thread.
  std::atomic<bool> has_late_classes_{false};
  // Class-file hooks that may be using instrumentation_.
  hot::InFlight class_hooks_;
  // Other callbacks that may be using what belongs to a recording.
  hot::InFlight callbacks_;
  absl::Mutex lifecycle_;
  bool is_prepared_ ABSL_GUARDED_BY(lifecycle_) = false;  // VmInit shall begin
  std::atomic<bool> failed_{false};                       // see has_failed
  mutable absl::Mutex failure_mutex_;
  std::string failure_ ABSL_GUARDED_BY(failure_mutex_);
  std::atomic<bool> counts_threads_{false};
  std::atomic<pid_t> control_tid_{0};
  std::atomic<pid_t> clients_tid_{0};
  // Made once, never freed: GiveUp may wake it from any thread.
  std::atomic<control::SessionControl*> control_{nullptr};
  int file_number_ = 0;    // %n
  absl::Time began_;       // the recording
  absl::Time file_began_;  // its current file
  std::atomic<uint64_t> gc_count_{0};
};

}  // namespace jtrace
