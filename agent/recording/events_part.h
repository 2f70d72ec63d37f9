// The JVM's events of a recording, and those that codes= requests: threads, prepared classes,
// collections, I/O, waits, segments.
#pragma once

#include <vector>

#include "agent/options/options.h"
#include "agent/recording/agent_state.h"
#include "agent/recording/recording_part.h"

namespace jtrace {

class EventsPart : public RecordingPart {
 public:
  EventsPart(JvmState& jvm, EventState& events, const Options& options)
      : jvm_(jvm), events_(events), options_(options) {}

  absl::Status Prepare() override;
  void ReportStart() override;
  void Listen(JNIEnv* jni) override;
  void AddExisting(JNIEnv* jni) override;
  std::vector<trace::ChunkSource*> sources() override;
  void StopListening() override;

 private:
  JvmState& jvm_;
  EventState& events_;
  const Options& options_;
};

}  // namespace jtrace
