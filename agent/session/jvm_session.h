// The agent in one JVM: makes recordings and retires them, and answers for them.
//
// Life: OpenAtLoad → VmInit, or OpenLive; then Start and Stop in turn, as often as one likes;
// VmDeath ends what is running. Never freed, as its parts (jvm_parts.h).
//
// Threads: Start, Stop and the other commands on any Java thread, one at a time (lifecycle_).
#pragma once

#include <jvmti.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "agent/options/options.h"
#include "agent/session/gate.h"
#include "agent/session/jvm_events.h"
#include "agent/session/jvm_parts.h"
#include "agent/session/recording.h"

namespace jtrace {

namespace control {
class SessionControl;
}

class JvmSession {
 public:
  // Agent_OnLoad: takes capabilities, opens the trace file, prepares the sampler. What fails here
  // fails before the program runs. Recording begins in VmInit.
  static absl::StatusOr<JvmSession*> OpenAtLoad(JavaVM* vm, const Options& options);
  // In a JVM that runs already (Agent_OnAttach): nothing is recorded until Start.
  static absl::StatusOr<JvmSession*> OpenLive(JavaVM* vm, JNIEnv* jni);

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
  // Puts hooks into native functions while a recording runs, or takes them out; without an argument
  // lists them. Returns what was done.
  absl::StatusOr<std::string> Hook(absl::string_view specs);
  // What `jtrace VERB PID ARGUMENT` prints. On a Java thread.
  absl::StatusOr<std::string> RunCommand(absl::string_view verb, absl::string_view argument);

  // Calls `ask` on the writer thread with the recording's call trees. Errors: FailedPrecondition:
  // there are none.
  absl::Status AskTrees(const std::function<void(metrics::TreeWindows&)>& ask);
  // The metrics that the recording charges to call paths, by their places in its trees.
  std::vector<uint8_t> PathMetricNumbers();

  Due WhatIsDue(absl::Time now);
  // Classes that were being loaded when the recording began get their probes.
  void AddProbesToLateClasses(JNIEnv* jni);
  // Takes the probes out if the recording has failed.
  void CleanUpAfterFailure(JNIEnv* jni);

  void VmInit(JNIEnv* jni, jthread thread);
  void VmDeath();

  JvmParts& jvm() { return jvm_; }
  JvmEvents& events() { return events_; }

 private:
  JvmSession(JavaVM* vm, jvmtiEnv* env) : jvm_(vm, env), events_(jvm_, gate_) {}
  static absl::StatusOr<JvmSession*> Open(JavaVM* vm, const Options& options);

  std::unique_ptr<Recording> NewRecording() ABSL_EXCLUSIVE_LOCKS_REQUIRED(lifecycle_);
  absl::StatusOr<std::string> StartLocked(JNIEnv* jni, const Options& options,
                                          const Progress& progress)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(lifecycle_);
  // The new recording is prepared and begun; where memory is missing, that is an error like others.
  absl::Status TryToStart(JNIEnv* jni, const Options& options, const Progress& progress)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(lifecycle_);
  // Until the recording, which does not run any more, has failed; Unavailable: that takes more than
  // a second.
  absl::Status WaitForGivingUp() ABSL_EXCLUSIVE_LOCKS_REQUIRED(lifecycle_);
  // The recording, if it runs; else null.
  Recording* Running() ABSL_EXCLUSIVE_LOCKS_REQUIRED(lifecycle_);
  // Cleans up after the recording, which is over. What callbacks are inside of is never freed.
  void Retire(JNIEnv* jni) ABSL_EXCLUSIVE_LOCKS_REQUIRED(lifecycle_);
  std::string DescribeIdle() ABSL_EXCLUSIVE_LOCKS_REQUIRED(lifecycle_);
  // The agent came before the recording: what runs and is loaded has to be looked for at its start.
  void SetLive();
  // The program can ask (jtrace-api.jar).
  void DefineQuestions(JNIEnv* jni);
  void StartControl(const Options& options, const Log* log);
  // The control thread is to look what is due.
  void WakeControl();

  JvmParts jvm_;
  Gate<Recording> gate_;
  JvmEvents events_;
  absl::Mutex lifecycle_;
  // The one that runs, or that has failed and is not cleaned up; null: none.
  std::unique_ptr<Recording> recording_ ABSL_GUARDED_BY(lifecycle_);
  bool is_prepared_ ABSL_GUARDED_BY(lifecycle_) = false;  // VmInit shall begin it
  Options last_options_ ABSL_GUARDED_BY(lifecycle_);
  std::string last_failure_ ABSL_GUARDED_BY(lifecycle_);  // of the last recording; "": none
  int files_begun_ ABSL_GUARDED_BY(lifecycle_) = 0;
  // Made once, never freed: a failure may wake it from any thread.
  std::atomic<control::SessionControl*> control_{nullptr};
};

}  // namespace jtrace
