// Keeps every timer sample's stack, for the reports that are only about samples (S1, FIG. 25).
#pragma once

#include <cstdint>
#include <vector>

#include "postproc/model/record_visitor.h"
#include "postproc/samples/stack_table.h"

namespace jtrace::postproc {

// A timer sample.
struct LoggedSample {
  int64_t time = 0;
  int64_t weight = 1;
  ThreadId thread;
  StackId stack;  // none: a sample without frames
  SampleState state = SampleState::kRunning;
  ClassId blocker;
  LabelsId labels;
};

class SampleLog : public RecordVisitor {
 public:
  // Instrumented unwinds are not samples of time and are left out. Calls do not matter here.
  void OnCalls(ThreadId, absl::Span<const CallRecord>) override {}
  void OnReducedCalls(ThreadId, const ReducedCalls&,
                      absl::FunctionRef<void(RecordVisitor&)>) override {}
  void OnSample(At at, const SampleRecord& sample) override {
    if (sample.is_unwind) return;
    samples_.push_back({at.time, sample.weight, at.thread,
                        stacks_.Intern(sample.frames, sample.places), sample.state, sample.blocker,
                        sample.labels});
  }

  // In the order of the trace.
  const std::vector<LoggedSample>& samples() const { return samples_; }
  const StackTable& stacks() const { return stacks_; }

 private:
  std::vector<LoggedSample> samples_;
  StackTable stacks_;
};

}  // namespace jtrace::postproc
