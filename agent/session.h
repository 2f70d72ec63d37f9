// One recording: owns the agent's parts and says in which order they start and stop.
//
// Life: Open (OnLoad) → VmInit → … → VmDeath. A session is never freed: JVMTI callbacks and probes
// of threads that run on during the JVM's death may still use it.
//
// Threads: every callback runs on the thread that JVMTI says (see agent/README.md); GcStart and
// GcFinish inside a safepoint, where neither JNI nor JVMTI may be called.
#pragma once

#include <jvmti.h>

#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "agent/clock.h"
#include "agent/instrumentation.h"
#include "agent/jvmti/class_registry.h"
#include "agent/jvmti/code_registry.h"
#include "agent/jvmti/tags.h"
#include "agent/jvmti/thread_registry.h"
#include "agent/log.h"
#include "agent/losses.h"
#include "agent/options.h"
#include "agent/probes/bridge.h"
#include "agent/probes/flat_collector.h"
#include "agent/probes/tree_collector.h"
#include "agent/sampling/sampler.h"
#include "agent/writer/drain_thread.h"
#include "agent/writer/sample_source.h"
#include "agent/writer/system_source.h"
#include "agent/writer/trace_file.h"
#include "agent/writer/tree_source.h"

namespace jtrace {

class Session {
 public:
  // Agent_OnLoad: takes capabilities, opens the trace file, prepares the sampler. What fails here
  // fails before the program runs.
  static absl::Status Open(JavaVM* vm, const Options& options);

  void VmInit(JNIEnv* jni, jthread thread);
  void VmDeath();
  void ThreadStart(JNIEnv* jni, jthread thread);
  void ThreadEnd();
  void VirtualThreadStart(JNIEnv* jni, jthread thread);
  void VirtualThreadEnd(JNIEnv* jni, jthread thread);
  void ClassFileLoad(jobject loader, const char* name, std::span<const unsigned char> bytes,
                     jint* new_size, unsigned char** new_bytes);
  void ClassPrepare(jclass klass);
  void ObjectFree(jlong tag);
  void CompiledMethodLoad(jmethodID method, jint size, const void* address,
                          const void* compile_info);
  void CompiledMethodUnload(jmethodID method, const void* address);
  void DynamicCode(const char* name, const void* address, jint size);
  void GcStart();
  void GcFinish();

 private:
  Session(jvmtiEnv* env, const Options& options, std::unique_ptr<writer::TraceFile> file);

  absl::Status CreateInstrumentation();
  absl::Status CreateSampler(JavaVM* vm);
  // Classes in scope that were loaded before the probes were ready.
  void RetransformLoaded(JNIEnv* jni);
  absl::Status StartProbes(JNIEnv* jni);
  absl::Status StartSampler(JNIEnv* jni);
  void AttachRunningThreads(JNIEnv* jni);
  void StartWriter();
  void EnableLiveEvents();
  proto::SessionStart DescribeStart() const;
  uint64_t calls() const;
  void FinishEnd(proto::SessionEnd& end) const;
  void PrintEnd(const absl::Status& written) const;
  // Stops recording for good, tells why, and lets the program run on.
  void GiveUp(absl::string_view why);

  jvmtiEnv* env_;
  const Options options_;
  const SessionClock clock_;
  Log log_;
  Losses losses_;
  writer::RecordEncoder encoder_;
  std::unique_ptr<writer::TraceFile> file_;
  jvmti::LoaderNumbers loaders_;
  jvmti::ClassRegistry classes_;
  jvmti::CodeRegistry code_;
  jvmti::ThreadRegistry threads_;
  std::unique_ptr<Instrumentation> instrumentation_;
  bool has_virtual_threads_ = false;
  std::unique_ptr<sampling::Sampler> sampler_;
  std::unique_ptr<Probes> probes_;
  std::unique_ptr<TreeCollector> trees_;   // record=tree
  std::unique_ptr<FlatCollector> counts_;  // record=flat
  std::unique_ptr<writer::SampleSource> sample_source_;
  std::unique_ptr<writer::ChunkSource> call_source_;
  std::unique_ptr<writer::InternalThreadSource> internal_threads_;
  writer::ModuleSource module_source_;
  writer::LossSource loss_source_;
  std::unique_ptr<writer::DrainThread> drain_;

  // Set in VmInit when everything runs; callbacks before that only register threads.
  std::atomic<bool> recording_{false};
  std::atomic<uint64_t> gc_count_{0};
};

}  // namespace jtrace
