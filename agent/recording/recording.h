// One recording: made by a start, retired by a stop.
//
// Life (recording_state.h): Prepare → BeginFile (at load) → Begin → Stop, EndWithJvm or Fail →
// CleanUp. Commands and the steps of start and stop run on one thread at a time (JvmSession's
// lock). Callbacks enter through the gate, which Begin opens and every end of the recording closes.
// Fail may be called on any thread that does not hold the encoder's mutex.
#pragma once

#include <jvmti.h>

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "agent/recording/gate.h"
#include "agent/recording/recording_commands.h"
#include "agent/recording/recording_parts.h"
#include "agent/recording/recording_state.h"

namespace jtrace {

class Recording {
 public:
  // `files_begun`: the number of all recordings so far, incremented here. `wake`: makes the control
  // thread check what is due.
  Recording(JvmParts& jvm, Gate<Recording>& gate, int& files_begun, std::function<void()> wake);
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  // The steps that can fail without a trace; keeps the file at out=.
  absl::Status Prepare(const Options& options);
  // From here on the file belongs to the recording.
  absl::Status BeginFile();
  // At load, adds probes to loaded classes in scope; in a running JVM these are only listed, and
  // AddBatch does it. Missing memory or threads are ordinary errors. After an error, CleanUp undoes
  // the steps already done.
  absl::Status Begin(JNIEnv* jni);
  // While it runs: whether classes still wait for their probes, and the next ones get them.
  bool IsAdding() const;
  void AddBatch(JNIEnv* jni);
  // Timers off, the trace complete. Returns a line for people: what was written. The probes, which
  // count for nobody any more, are still in; RemoveBatch or CleanUp removes them.
  absl::StatusOr<std::string> Stop(JNIEnv* jni);
  // No more callbacks: those that might add probes have ended.
  void PlanRemoving(JNIEnv* jni);
  // False: no class that was listed has probes.
  bool RemoveBatch(JNIEnv* jni);
  // Why the probes of some classes stay; "": none do.
  std::string DescribeLeft() const;
  // The JVM ends: like Stop, but the classes keep their probes.
  void EndWithJvm();
  // Ends it, reports why, and lets the program run on; CleanUp is due then.
  void Fail(absl::string_view why);
  // Frees everything except what activations may still touch.
  void CleanUp(JNIEnv* jni);

  RecordingState state() const { return step_.now(); }
  // The steps of taking its probes out, which its owner decides: RecordingStep::To.
  [[nodiscard]] bool To(RecordingState next) { return step_.To(next); }
  // Why the recording failed; "": it did not.
  std::string failure() const;
  const Options& options() const { return parts_.options; }
  const std::string& path() const { return parts_.file.path(); }
  // After Prepare.
  const Log& log() const { return *parts_.log; }

  // While it runs.
  RecordingCommands& commands() { return commands_; }

  // Null: mode=samples; mode=events.
  ProbedClasses* classes() const { return parts_.classes.get(); }
  SampleCollection* samples() const { return parts_.samples.get(); }
  samples::SwitchSource* switches() const { return parts_.switches.get(); }
  CallCounting& calls() { return *parts_.calls; }
  void Wake() const { wake_(); }

  // On the writer's thread: the classes were unloaded; records of earlier rounds may still be
  // unread.
  void Forget(const absl::flat_hash_set<uint32_t>& classes);
  bool IsBehind() const;

 private:
  absl::Status PrepareSwitches();
  absl::Status PrepareClasses();
  absl::Status PrepareSamples();
  absl::Status TryToBegin(JNIEnv* jni);
  absl::Status StartParts(JNIEnv* jni);
  absl::Status StartSamples(JNIEnv* jni);
  void StartWriter();
  std::vector<trace::ChunkSource*> Sources();
  void StartHooks();
  // Adopts threads that ran before the agent was loaded, by name. The methods they are in are not
  // on the paths of the calls they make from here on.
  void AdoptRunningThreads(JNIEnv* jni);
  // Of threads that run by now; the others attach themselves.
  void AttachSwitches(JNIEnv* jni);
  void RemoveProbes(JNIEnv* jni);
  void StopSampler();
  // The gate is closed: until those that are inside have left, or kGatePatience is over.
  void WaitForCallbacks();
  absl::Status EndTrace(proto::SessionEnd::Reason reason);

  // The writer thread of the parts may call Fail until they are destroyed, and that uses these.
  Gate<Recording>& gate_;
  const std::function<void()> wake_;
  RecordingStep step_;
  mutable absl::Mutex failure_mutex_;
  std::string failure_ ABSL_GUARDED_BY(failure_mutex_);
  RecordingParts parts_;
  RecordingCommands commands_;
};

}  // namespace jtrace
