// One recording: an ordered list of parts (recording_part.h), its file and its state.
//
// Life (recording_state.h): Prepare → BeginFile (at load) → Begin → Stop or Fail → CleanUp, or
// EndWithJvm without CleanUp. Commands and the steps of start and stop run on one thread at a time
// (JvmSession's lock). Callbacks enter through the gate, which Begin opens and every end of the
// recording closes. Fail may be called on any thread that does not hold the encoder's mutex.
#pragma once

#include <jvmti.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "agent/jvm/ended_thread_source.h"
#include "agent/metrics/tree_windows.h"
#include "agent/options/options.h"
#include "agent/recording/agent_state.h"
#include "agent/recording/calls_part.h"
#include "agent/recording/compiled_code_part.h"
#include "agent/recording/gate.h"
#include "agent/recording/message_log.h"
#include "agent/recording/recording_file.h"
#include "agent/recording/recording_part.h"
#include "agent/recording/recording_state.h"
#include "agent/recording/samples_part.h"
#include "agent/recording/session_start.h"
#include "agent/samples/module_source.h"
#include "agent/trace/loss_source.h"
#include "agent/trace/trace_writer.h"

namespace jtrace {

// The action due because of duration=, samples=, loop=, a failure (kCleanUp: JvmSession sets it) or
// classes that were loaded late (kAddProbes), and the latest time of the next check.
struct Due {
  enum What { kNothing, kStop, kNextFile, kCleanUp, kAddProbes } what = kNothing;
  absl::Time next = absl::InfiniteFuture();
};

class Recording {
 public:
  // `files_begun`: the number of all files so far, incremented with each. `wake`: makes the control
  // thread check what is due.
  Recording(AgentState& agent, Gate<Recording>& gate, int& files_begun, std::function<void()> wake);
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  // ---- Start

  // Takes the steps that can fail before a trace exists. Leaves the file at out= as it is.
  absl::Status Prepare(const Options& options);
  // From here on the file belongs to the recording.
  absl::Status BeginFile() { return file_.Begin(); }
  // Missing threads are an ordinary error; missing memory also ends all work of the agent
  // (agent_work_scope.h). After an error, CleanUp undoes the steps already
  // done.
  absl::Status Begin(JNIEnv* jni);
  // Whether classes still wait for their probes, which AddBatch gives to the next ones.
  bool IsAdding() const { return calls_ != nullptr && calls_->IsAdding(); }
  void AddBatch(JNIEnv* jni);

  // ---- End

  // BeginStop comes before Stop; false: the recording does not run, perhaps because it has just
  // failed. Stop disarms the timers, completes the trace, and returns a line for people: what was
  // written. The probes, which count for nobody any more, stay until RemoveBatch or CleanUp.
  bool BeginStop() { return state_.TryEnter(RecordingState::kStopping); }
  absl::StatusOr<std::string> Stop(JNIEnv* jni);
  // After a failure or a pause: begins to take the probes out. False: another thread does it.
  bool BeginRemoving(JNIEnv* jni);
  // Removes the probes of the next classes; false: those of all listed classes are out.
  bool RemoveBatch(JNIEnv* jni) { return calls_ != nullptr && calls_->RemoveBatch(jni); }
  // Leaves the rest to the control thread. False: probes are not being taken out.
  bool PauseRemoving() { return state_.TryEnter(RecordingState::kPaused); }
  // Returns why the probes of some classes stay, as a warning; "": none do.
  std::string DescribeKeptProbes() const;
  // Does what Stop does when the JVM ends, but the classes keep their probes.
  void EndWithJvm();
  // Ends the recording, reports why, and lets the program run on. CleanUp is due then.
  void Fail(absl::string_view why);
  // Frees everything except what activations may still use. After any end, and a failed start.
  void CleanUp(JNIEnv* jni);

  // ---- Commands, while it runs

  // Writes everything recorded so far; returns the file's path.
  absl::StatusOr<std::string> Flush();
  // Ends the file and continues in another; returns the path of the ended one. If the next file
  // cannot be begun, the recording continues in the old one, and a loss says so. If the old one
  // cannot be completed, the recording fails.
  absl::StatusOr<std::string> NextFile();
  std::string DescribeStatus();
  // Records of compiled code are needed from now on (CompiledCodePart).
  void RequestCodeRecords() { code_->RequestCodeRecords(); }
  // Calls `ask` on the writer thread. FailedPrecondition: the recording keeps no call trees.
  absl::Status QueryTrees(absl::FunctionRef<void(metrics::TreeWindows&)> ask);
  Due WhatIsDue(absl::Time now);

  // ---- Events of the program, through the gate

  // Calls `event` with each part.
  void ForEachPart(absl::FunctionRef<void(RecordingPart&)> event) {
    for (const auto& part : parts_) event(*part);
  }

  // ---- On the writer thread

  // Forget: the classes were unloaded. IsBehind: records of earlier polls may still be unread.
  void Forget(const absl::flat_hash_set<uint32_t>& classes);
  bool IsBehind() const { return calls_ != nullptr && calls_->IsBehind(); }

  // ---- Questions

  RecordingState state() const { return state_.now(); }
  // Why the recording failed; "": it did not.
  std::string failure() const;
  const Options& options() const { return options_; }
  const std::string& path() const { return file_.path(); }
  // After Prepare.
  const MessageLog& log() const { return *log_; }
  // Null: mode=samples.
  CallsPart* calls() const { return calls_; }
  // Whether the recording takes samples.
  bool has_samples() const { return samples_ != nullptr; }
  // Whether the counts of blocks are completed when they are read, which needs a Java thread.
  bool NeedsJavaThread() const { return calls_ != nullptr && calls_->blocks() != nullptr; }

 private:
  // Makes the parts that the options ask for, in the order of a start.
  void MakeParts();
  template <typename Part, typename... Arguments>
  Part* Add(Arguments&&... arguments);
  void ForEachFromBack(absl::FunctionRef<void(RecordingPart&)> step);
  // Begin, whose exceptions are its failures.
  absl::Status TryToBegin(JNIEnv* jni);
  // Before the file begins: what may fail.
  absl::Status StartParts(JNIEnv* jni);
  // After it: events go on, the data begins, the writer starts.
  void Run(JNIEnv* jni);
  // Adopts threads that ran before the agent was loaded, by name. The methods they are in are not
  // on the paths of the calls they make from here on.
  void AdoptRunningThreads(JNIEnv* jni);
  std::vector<trace::ChunkSource*> Sources();
  void StartWriter();
  // Waits until no callback is inside the closed gate, kGateTimeout at most.
  void WaitForCallbacks();
  absl::Status EndTrace(proto::SessionEnd::Reason reason);
  // The trace's first record, and its last one.
  proto::SessionStart DescribeStart() const;
  void FinishEnd(proto::SessionEnd::Reason reason, proto::SessionEnd& end) const;
  // A line for people: what was written, and how to see it.
  std::string DescribeEnd(proto::SessionEnd::Reason reason) const;
  std::string DescribeEndedFiles();

  AgentState& agent_;
  JvmState& jvm_;  // of agent_
  // Declared before writer_, because the writer thread may call Fail, which uses these.
  Gate<Recording>& gate_;
  const std::function<void()> wake_;
  RecordingStateMachine state_;
  mutable absl::Mutex failure_mutex_;
  std::string failure_ ABSL_GUARDED_BY(failure_mutex_);
  Options options_;
  std::unique_ptr<MessageLog> log_;
  RecordingFile file_;
  std::vector<std::unique_ptr<RecordingPart>> parts_;
  // The parts that commands use; null: the recording does not have that part.
  CallsPart* calls_ = nullptr;
  SamplesPart* samples_ = nullptr;
  CompiledCodePart* code_ = nullptr;
  samples::ModuleSource module_source_;
  trace::LossSource loss_source_;
  jvm::EndedThreadSource ended_threads_;
  std::unique_ptr<trace::TraceWriter> writer_;
  // Read once, because the thread that begins the next files cannot ask the JVM.
  Program program_;
  absl::Time began_ = absl::InfinitePast();
  // Since when all loaded classes in scope have their probes, from where duration= counts.
  absl::Time complete_ = absl::InfinitePast();
};

// A line for each loss that is more than an information; each begins with a line break.
std::string DescribeWarnings(const Losses& losses);

}  // namespace jtrace
