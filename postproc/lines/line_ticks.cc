#include "postproc/lines/line_ticks.h"

#include "postproc/support/wrap.h"

namespace jtrace::postproc {

void LineTicks::OnSample(At, const SampleRecord& sample) {
  if (!sample.bci.has_value() || sample.is_unwind || sample.frames.empty()) return;
  const RoutineId routine = model_.frame(sample.frames.back()).routine;
  int64_t& ticks = ticks_[routine][*sample.bci];
  ticks = WrapAdd(ticks, sample.weight);
}

const TicksByBci* LineTicks::Of(RoutineId routine) const {
  const auto found = ticks_.find(routine);
  return found == ticks_.end() ? nullptr : &found->second;
}

}  // namespace jtrace::postproc
