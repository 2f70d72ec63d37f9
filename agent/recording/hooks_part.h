// Hooks in native functions while a recording runs (calls of native functions, S3.9). Only a
// recording with samples has this part, because hooks need the threads that the sampler knows.
#pragma once

#include <functional>
#include <memory>

#include "agent/native_hooks/hook_source.h"
#include "agent/native_hooks/hooks.h"
#include "agent/options/options.h"
#include "agent/recording/jvm_state.h"
#include "agent/recording/recording_part.h"
#include "agent/recording/samples_part.h"

namespace jtrace {

class HooksPart : public RecordingPart {
 public:
  HooksPart(JvmState& jvm, native_hooks::Hooks& hooks, const Options& options,
            const SamplesPart& samples)
      : jvm_(jvm), hooks_(hooks), options_(options), samples_(samples) {}

  // InvalidArgument: no such function, or one that cannot have a hook.
  absl::Status Prepare() override;
  void Run() override;
  void WriterStarted(bool is_running) override;
  std::vector<trace::ChunkSource*> sources() override { return {source_.get()}; }
  void Stop() override { hooks_.End(); }
  void StopListening() override;

 private:
  JvmState& jvm_;
  native_hooks::Hooks& hooks_;
  const Options& options_;
  const SamplesPart& samples_;
  std::unique_ptr<native_hooks::HookSource> source_;
};

}  // namespace jtrace
