// One kind of data that a recording takes: calls, samples, metrics, the JVM's events.
//
// A recording is an ordered list of parts and takes each of its steps with all of them: starting
// from the front, ending from the back (ReportEnd: from the front), so that a part may use those
// before it. A step that a part does not need is empty. A part that a recording does not need is
// not in its list, so no part has to ask whether it is on itself.
//
// Threads: the steps on the thread of a start or a stop, under the session's lock, unless the step
// says otherwise; events of the program on the thread concerned, while the gate is open (gate.h).
#pragma once

#include <jvmti.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "agent/jvm/thread_registry.h"
#include "agent/trace/chunk_source.h"
#include "proto/trace.pb.h"

namespace jtrace {

class RecordingPart {
 public:
  RecordingPart() = default;
  virtual ~RecordingPart() = default;
  RecordingPart(const RecordingPart&) = delete;
  RecordingPart& operator=(const RecordingPart&) = delete;

  // ---- The steps of a start

  // Checks and prepares what needs no Java code, in Agent_OnLoad too. An error leaves the program
  // and the file at out= as they were.
  virtual absl::Status Prepare() { return absl::OkStatus(); }
  // In VMInit or later. The last step that may fail; CleanUp undoes it.
  virtual absl::Status Start(JNIEnv*) { return absl::OkStatus(); }
  // The file has begun: reports as losses what is missing from the start.
  virtual void ReportStart() {}
  // The gate is open: switches on the events that the part takes.
  virtual void Listen(JNIEnv*) {}
  // Takes what was there before: threads, classes, compiled code.
  virtual void AddExisting(JNIEnv*) {}
  // Begins the data of the recording, now that all is in place. The writer asks for sources() next.
  virtual void Run() {}
  // The writer runs. `is_running`: false if it has failed already.
  virtual void WriterStarted(bool /*is_running*/) {}

  // What the writer reads; the writer thread calls the sources.
  virtual std::vector<trace::ChunkSource*> sources() { return {}; }

  // ---- Events of the program

  virtual void ThreadStarted(JNIEnv*, const jvm::TraceThreadIds&) {}
  virtual void ThreadEnding(const jvm::TraceThreadIds&) {}
  virtual void ClassPrepared(jclass) {}
  virtual void MethodCompiled(jmethodID) {}

  // ---- The steps of an end

  // Takes no more data. On any thread, also the writer's, so without JNI and JVMTI; perhaps twice.
  virtual void Stop() {}
  // Completes the counts, which are read next. Does nothing on a thread that is not a Java thread.
  virtual void CompleteCounts() {}
  // The gate is closed: switches the part's events off, and resting probes stop counting.
  virtual void StopListening() {}
  // Reports as losses what is known at the end only.
  virtual void ReportEnd() {}
  // Lets no thread of the program wait for the writer, which does not run any more. On any thread.
  virtual void ReleaseWaitingThreads() {}
  // After every end, and after a start that failed at any step: frees all but what activations may
  // still use.
  virtual void CleanUp(JNIEnv*) {}

  // ---- What the part says of itself

  // In the first record of a file, and in the last one.
  virtual void AddToStart(proto::SessionStart&) const {}
  virtual void AddToEnd(proto::SessionEnd&) const {}
  // The part of "wrote trace.bin: 12 calls, 5 samples, 1.2 MB": "12 calls, "; may be empty.
  virtual std::string Summary() const { return ""; }
  // Lines of `jtrace status`; each begins with a line break. On the writer thread.
  virtual std::string Status() const { return ""; }
  // Why the part cannot take its data here, and the remedy; "": nothing prevents it. After Start.
  virtual std::string Problem() const { return ""; }
};

}  // namespace jtrace
