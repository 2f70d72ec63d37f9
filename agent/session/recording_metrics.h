// The metrics of a recording: which are charged to call paths, and what writes the others.
#pragma once

#include "absl/status/status.h"
#include "agent/options/options.h"
#include "agent/session/recording_parts.h"

namespace jtrace {

// The recording keeps call trees: the only ones that have call paths.
bool HasTrees(const Options& options);

// Sets metric_numbers and calls.
absl::Status PrepareMetrics(RecordingParts& parts);

// Once the probes are there: the sources of metrics that these do not charge.
void MakeMetricSources(RecordingParts& parts);

}  // namespace jtrace
