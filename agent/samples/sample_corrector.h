// Corrects samples of code whose debug information was not checked when they were taken.
#pragma once

#include <vector>

#include "absl/functional/function_ref.h"
#include "agent/jvm/hotspot/debug_non_safepoints.h"
#include "agent/samples/handler/sample_record.h"

namespace jtrace::samples {

// Use is called before samples are drained, Correct on the thread that drains them.
class SampleCorrector {
 public:
  // `check`: null leaves samples as they are. `keeps_one`: samples have one frame, whatever methods
  // are inlined there (stack=frame).
  void Use(jvm::NonSafepointsCheck* check, bool keeps_one) {
    check_ = check;
    keeps_one_ = keeps_one;
  }

  // Passes the sample to `take`, with other methods in its interrupted frame if these are wrong.
  void Correct(const SampleView& view, absl::FunctionRef<void(const SampleView&)> take);

 private:
  jvm::NonSafepointsCheck* check_ = nullptr;
  bool keeps_one_ = false;
  std::vector<Frame> methods_;
  std::vector<Frame> frames_;
};

}  // namespace jtrace::samples
