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
  uint32_t counters = 0;  // positions other than kSplit
  uint32_t throws = 0;    // counters of kind kThrow
  uint32_t blocks = 0;    // blocks of the code; a split adds none
};

// Counts flow through a method like a current: what enters a block leaves it. So the counts of a
// spanning tree of its graph follow from those of all other edges (Knuth and Stevenson, 1973). The
// tree gets the edges that are probably the most frequent; the others get counters.
//
// `thrown`: instructions whose exceptions get a counter (kThrow). `splits`: instructions whose
// exceptions are not counted, so that a block ends after them. Both ascending. `count_entry`: the
// entry gets a counter, because the routine's calls are not only those of this code; the trace's
// reader subtracts its count from them.
// None: the flow is not known (MakeFlowGraph), or a jump would need a counter of its own.
std::optional<CounterPlan> PlanCounters(const CodeAttribute& code,
                                        absl::Span<const uint32_t> thrown,
                                        absl::Span<const uint32_t> splits, bool count_entry);

}  // namespace jtrace::classfile
