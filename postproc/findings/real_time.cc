#include "postproc/findings/real_time.h"

#include <algorithm>

#include "postproc/report/headline.h"

namespace jtrace::postproc {
namespace {

// By thread, from 1.
std::vector<bool> ThreadsOfProgram(const TraceModel& model) {
  std::vector<bool> is_program(model.thread_count() + 1);
  for (uint32_t i = 1; i < is_program.size(); ++i) {
    // Of the JVM's own threads none calls methods that are counted.
    is_program[i] =
        ConsumerOfThread(model.thread(ThreadId(i)), /*has_events=*/false) == Consumer::kProgram;
  }
  return is_program;
}

}  // namespace

std::vector<StateTime> RealTimeOfProgram(const ReportInput& input) {
  if (input.waits.places().empty()) return {};
  StateTime states[kSampleStates];
  for (size_t i = 0; i < kSampleStates; ++i) states[i].state = static_cast<SampleState>(i);
  const std::vector<bool> is_program = ThreadsOfProgram(input.model);
  for (const LoggedSample& sample : input.samples.samples()) {
    if (!sample.thread || !is_program[sample.thread.value]) continue;
    int64_t& ticks = states[static_cast<size_t>(sample.state)].ticks;
    ticks = WrapAdd(ticks, sample.weight);
  }
  for (const auto& [place, total] : input.waits.places()) {
    StateTime& state = states[static_cast<size_t>(place.state)];
    if (place.site.empty() || total.ticks <= state.of_site) continue;
    state.site = place.site;
    state.on = place.on;
    state.of_site = total.ticks;
  }
  std::vector<StateTime> found;
  std::copy_if(std::begin(states), std::end(states), std::back_inserter(found),
               [](const StateTime& it) { return it.ticks > 0; });
  std::stable_sort(found.begin(), found.end(),
                   [](const StateTime& a, const StateTime& b) { return a.ticks > b.ticks; });
  return found;
}

}  // namespace jtrace::postproc
