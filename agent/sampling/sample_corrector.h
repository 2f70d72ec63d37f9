// Corrects samples whose interrupted code was not checked when they were taken.
#pragma once

#include <vector>

#include "absl/functional/function_ref.h"
#include "agent/hot/sample_record.h"
#include "agent/hotspot/debug_non_safepoints.h"

namespace jtrace::sampling {

// Use before samples are drained; Take on the thread that drains.
class SampleCorrector {
 public:
  // Null: samples stay as they are. `keeps_one`: samples have one frame, however many methods are
  // in it (stack=frame).
  void Use(NonSafepointsCheck* check, bool keeps_one) {
    check_ = check;
    keeps_one_ = keeps_one;
  }

  // Hands on the sample, with other methods in its interrupted frame if those it has are wrong.
  void Take(const hot::SampleView& view, absl::FunctionRef<void(const hot::SampleView&)> take);

 private:
  NonSafepointsCheck* check_ = nullptr;
  bool keeps_one_ = false;
  std::vector<hot::Frame> methods_;
  std::vector<hot::Frame> frames_;
};

}  // namespace jtrace::sampling
