// Translates the options of a recording for the parts that use them.
#pragma once

#include "absl/time/time.h"
#include "agent/hot/layout.h"
#include "agent/options/options.h"
#include "agent/probes/bridge.h"
#include "agent/sampling/sampler.h"

namespace jtrace {

// How often the writer reads the rings.
absl::Duration PollPeriod(const Options& options);

// Whether samples distinguish the application's methods from others.
bool NeedsAppScope(const Options& options);

// Whether methods get numbers only when a sample or a record of compiled code has them.
bool NumbersMethodsLater(const Options& options);

sampling::SamplerOptions SamplerOptionsOf(const Options& options);
hot::ProbeClock ProbeClockOf(Clock clock);
ProbeOptions ProbeOptionsOf(const Options& options);

}  // namespace jtrace
