// Thread switches that the kernel records (S3.5: a thread gets and leaves a processor).
#pragma once

#include "agent/recording/jvm_state.h"
#include "agent/recording/recording_part.h"
#include "agent/samples/context_switch_source.h"

namespace jtrace {

class ContextSwitchesPart : public RecordingPart {
 public:
  explicit ContextSwitchesPart(JvmState& jvm)
      : jvm_(jvm), source_(jvm.trace.clock, jvm.trace.losses) {}

  // FailedPrecondition, with the remedy: the kernel forbids records of switches.
  absl::Status Prepare() override;
  void Listen(JNIEnv* jni) override;
  std::vector<trace::ChunkSource*> sources() override { return {&source_}; }
  void ThreadStarted(JNIEnv* jni, const jvm::TraceThreadIds& numbers) override;
  void ThreadEnding(const jvm::TraceThreadIds& numbers) override { source_.End(numbers.number); }

  // A log writes its thread's switches between its calls.
  samples::ContextSwitchSource& source() { return source_; }

 private:
  JvmState& jvm_;
  samples::ContextSwitchSource source_;
};

}  // namespace jtrace
