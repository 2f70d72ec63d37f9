// Chooses where the counters of a method's blocks go: as few as suffice to derive how often each
// instruction ran (blocks=on).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "common/classfile/code_attribute.h"
#include "common/classfile/flow_graph.h"

namespace jtrace::classfile {

struct CounterPlan {
  // Ascending by bci. A kSplit position is not a counter.
  std::vector<CounterPosition> positions;
  uint32_t counters = 0;  // positions that are
  uint32_t throws = 0;    // of these, kThrow
  uint32_t blocks = 0;    // of the code, without splits
};

// Counts flow through a method like a current: what enters a block leaves it. So the counts of a
// spanning tree of its graph follow from those of all other edges (Knuth and Stevenson, 1973). The
// tree gets the edges that are probably the most frequent; the others get counters.
//
// `thrown`: instructions whose exceptions are counted where they leave the method or reach their
// handler (kThrow); `splits`: those whose exceptions are not, so that a block ends after them.
// Both ascending. `count_entry`: the method's calls are not known otherwise,
// so that they get a counter in any case: the trace's reader takes them off those of the routine.
// None: the flow is not known (MakeFlowGraph), or a jump would need a counter of its own.
std::optional<CounterPlan> PlanCounters(const CodeAttribute& code,
                                        absl::Span<const uint32_t> thrown,
                                        absl::Span<const uint32_t> splits, bool count_entry);

}  // namespace jtrace::classfile
