// The agent in one JVM: makes and retires recordings, and answers commands about them.
//
// Life: OpenAtLoad → VmInit, or OpenLive; then Start and Stop in turn, any number of times; VmDeath
// ends a running recording. Never freed, like its parts (agent_state.h).
//
// Threads: Start and Stop on any Java thread, the other commands on any thread unless
// NeedsJavaThread says otherwise; one at a time (lifecycle_).
#pragma once

#include <jvmti.h>

#include <atomic>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "agent/options/options.h"
#include "agent/recording/agent_state.h"
#include "agent/recording/gate.h"
#include "agent/recording/recording.h"
#include "agent/session/command_context.h"
#include "agent/session/jvm_event_dispatcher.h"

namespace jtrace {

class SessionControl;

class JvmSession {
 public:
  // Agent_OnLoad: requests capabilities, opens the trace file, prepares the sampler. Failures here
  // happen before the program runs. Recording begins in VmInit.
  static absl::StatusOr<JvmSession*> OpenAtLoad(JavaVM* vm, const Options& options);
  // In a JVM that already runs (Agent_OnAttach): records nothing until Start.
  static absl::StatusOr<JvmSession*> OpenLive(JavaVM* vm, JNIEnv* jni);

  // Begins a recording, with include=own after a second in which it chooses packages
  // (program_packages.h): loaded classes in scope get their probes in batches, between which other
  // commands are carried out. Errors leave the program and the file at out= unchanged, but what an
  // earlier recording has left is retired. Aborted: the recording ended before all classes had
  // their probes. Returns a line for people:
  // what is recorded, and where.
  absl::StatusOr<std::string> Start(JNIEnv* jni, Options options, const CommandContext& context);
  // Start with the options of the last recording, into another file.
  absl::StatusOr<std::string> Resume(JNIEnv* jni, const CommandContext& context);
  // Ends the recording: timers off, the trace complete; then takes the probes out of all classes,
  // in batches, of which the control thread does those for which the caller does not wait. The
  // program then runs as it did without jtrace, except for loops that are running
  // (jvm/running_stacks.h). After a failure it removes the remaining probes and reports why.
  // Returns a line for people: what was written.
  absl::StatusOr<std::string> Stop(JNIEnv* jni, const CommandContext& context);

  // Writes everything recorded so far to the file and returns its path.
  absl::StatusOr<std::string> Flush();
  // Ends the file and continues in the next one; returns the path of the ended one.
  absl::StatusOr<std::string> NextFile();
  // NextFile with loop=, else Flush.
  absl::StatusOr<std::string> Dump();
  // A labelled mark in the trace (0x8/0x3).
  absl::Status Mark(absl::string_view text);
  absl::StatusOr<std::string> DescribeStatus();
  // Puts hooks into native functions while a recording runs, or removes them; without an argument
  // lists them. Returns a description of what was done.
  absl::StatusOr<std::string> Hook(absl::string_view specs);
  // The output of `jtrace VERB PID ARGUMENT`. On a Java thread.
  absl::StatusOr<std::string> RunCommand(absl::string_view verb, absl::string_view argument);

  // Calls `ask` on the writer thread with the recording's call trees. FailedPrecondition: there
  // are none.
  absl::Status QueryTrees(const std::function<void(metrics::TreeWindows&)>& ask);

  // Whether Flush, Dump, NextFile and DescribeStatus should be called on a Java thread: they look
  // for open activations.
  bool NeedsJavaThread();
  Due WhatIsDue(absl::Time now);
  // With probes=resting and no recording: forgets unloaded classes, as a recording does. Returns
  // when that is due again.
  absl::Time ForgetUnloaded(absl::Time now);
  // Does what is due, other than the next file.
  void CarryOut(JNIEnv* jni, Due::What what, const CommandContext& context);

  void VmInit(JNIEnv* jni, jthread thread);
  void VmDeath();

  AgentState& agent() { return agent_; }
  JvmEventDispatcher& events() { return events_; }

 private:
  JvmSession(JavaVM* vm, jvmtiEnv* env) : agent_(vm, env), events_(agent_, gate_) {}
  static absl::StatusOr<JvmSession*> Open(JavaVM* vm, jvmtiEnv* env, const Options& options);

  // Adds probes to classes that were being loaded when the recording began.
  void AddProbesToLateClasses(JNIEnv* jni);
  // Takes the probes out of a recording that failed, or of which a stop has left some.
  void CleanUp(JNIEnv* jni, const CommandContext& context);
  // The result of a batch of a start or a stop.
  struct Step {
    bool is_over = false;
    absl::Duration pause = absl::ZeroDuration();  // before the next batch
    BatchProgress progress = {};
  };
  // Runs the next batch of a start, or of a stop, unless it has to wait. `is_over`: the recording
  // of that number has no such work any more.
  Step AddBatch(JNIEnv* jni, int number);
  Step RemoveBatch(JNIEnv* jni, int number);
  absl::Status AddProbes(JNIEnv* jni, int number, const CommandContext& context);
  // Leaves the rest to the control thread. False: nothing is left to take out.
  bool PauseRemoving(int number);
  // Takes all probes out and retires the recording; returns DescribeKeptProbes. When the caller's
  // timeout ends, the rest is left to CleanUp, and the answer says so.
  std::string RemoveProbes(JNIEnv* jni, int number, const CommandContext& context);
  // The rest of a start, after StartLocked.
  absl::StatusOr<std::string> FinishStart(JNIEnv* jni, int number, const CommandContext& context);
  std::unique_ptr<Recording> NewRecording() ABSL_EXCLUSIVE_LOCKS_REQUIRED(lifecycle_);
  // Returns the recording's number.
  absl::StatusOr<int> StartLocked(JNIEnv* jni, const Options& options,
                                  const CommandContext& context)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(lifecycle_);
  // Prepares and begins the new recording; see Recording::Begin for missing memory.
  absl::Status TryToStart(JNIEnv* jni, const Options& options)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(lifecycle_);
  // Waits until the recording, which no longer runs, has finished failing. Unavailable: that takes
  // more than a second.
  absl::Status WaitForFailure() ABSL_EXCLUSIVE_LOCKS_REQUIRED(lifecycle_);
  // Whether there is a recording in one of these states.
  bool IsIn(std::initializer_list<RecordingState> states) ABSL_EXCLUSIVE_LOCKS_REQUIRED(lifecycle_);
  // The recording, if it runs; else null.
  Recording* Running() ABSL_EXCLUSIVE_LOCKS_REQUIRED(lifecycle_);
  absl::Status CheckNoneRuns() ABSL_EXCLUSIVE_LOCKS_REQUIRED(lifecycle_);
  // Cleans up after the recording has ended. Parts that callbacks are still inside are never freed.
  // Returns DescribeKeptProbes.
  std::string Retire(JNIEnv* jni) ABSL_EXCLUSIVE_LOCKS_REQUIRED(lifecycle_);
  std::string DescribeIdle() ABSL_EXCLUSIVE_LOCKS_REQUIRED(lifecycle_);
  // Marks the program as running: a start has to find its threads and loaded classes.
  void SetLive();
  // Lets the program query the session (jtrace-api.jar).
  void DefineApi(JNIEnv* jni);
  void StartControl(const Options& options, const MessageLog* log);
  // Puts resting probes in (probes=resting). If that fails, recordings put in their own.
  void BeginResting(JNIEnv* jni) ABSL_EXCLUSIVE_LOCKS_REQUIRED(lifecycle_);
  // Makes the control thread check what is due.
  void WakeControl();

  AgentState agent_;
  JvmState& jvm_ = agent_.jvm;
  Gate<Recording> gate_;
  JvmEventDispatcher events_;
  absl::Mutex lifecycle_;
  // The recording that is prepared or runs, or whose probes are not all out; null: there is none.
  std::unique_ptr<Recording> recording_ ABSL_GUARDED_BY(lifecycle_);
  int number_ ABSL_GUARDED_BY(lifecycle_) = 0;  // of recording_
  bool jvm_ends_ ABSL_GUARDED_BY(lifecycle_) = false;
  // What is known of the last recording, once it is retired.
  struct LastRecording {
    Options options;      // before the first recording: the agent's own
    std::string failure;  // "": it did not fail
    // DescribeKeptProbes, if the control thread retired it, so that no caller has heard it.
    std::optional<std::string> unreported_kept;
  };
  LastRecording last_ ABSL_GUARDED_BY(lifecycle_);
  int files_begun_ ABSL_GUARDED_BY(lifecycle_) = 0;
  // Made once, never freed: a failure may wake it from any thread. Null until then.
  std::atomic<SessionControl*> control_{nullptr};
};

}  // namespace jtrace
