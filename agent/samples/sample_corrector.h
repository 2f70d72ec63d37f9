// Corrects samples whose interrupted code was not checked when they were taken.
#pragma once

#include <vector>

#include "absl/functional/function_ref.h"
#include "agent/jvm/debug_non_safepoints.h"
#include "agent/samples/handler/sample_record.h"

namespace jtrace::samples {

// Use before samples are drained; Take on the thread that drains.
class SampleCorrector {
 public:
  // Null: samples stay as they are. `keeps_one`: samples have one frame, however many methods are
  // in it (stack=frame).
  void Use(jvm::NonSafepointsCheck* check, bool keeps_one) {
    check_ = check;
    keeps_one_ = keeps_one;
  }

  // Hands on the sample, with other methods in its interrupted frame if those it has are wrong.
  void Correct(const SampleView& view, absl::FunctionRef<void(const SampleView&)> take);

 private:
  jvm::NonSafepointsCheck* check_ = nullptr;
  bool keeps_one_ = false;
  std::vector<Frame> methods_;
  std::vector<Frame> frames_;
};

}  // namespace jtrace::samples
