// Derives how often each block and edge of a method ran from the counters that it has.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "common/classfile/code_attribute.h"
#include "common/classfile/flow_graph.h"

namespace jtrace::postproc {

// A counter's value. kSplit: `count` means nothing.
struct PlacedCount {
  classfile::CounterPosition place;
  int64_t count = 0;
};
// Activations that had begun the instruction at `bci` when the counters were read, and not left it.
// Negative: when they began to count.
struct OpenActivations {
  uint16_t bci = 0;
  int64_t count = 0;
};

// How often everything in a method ran.
struct FlowCounts {
  classfile::FlowGraph graph;
  std::vector<int64_t> blocks;  // by block
  std::vector<int64_t> edges;   // by edge
  // Executions that left a block inside of it, after beginning the instruction at `bci`: ascending.
  std::vector<OpenActivations> left;

  // How often the instruction at `bci` of that block began.
  int64_t CountAt(size_t block, uint32_t bci) const;
};

// `entries`: calls of the method; none: a counter has them.
// None: the counters do not belong to this code.
std::optional<FlowCounts> SolveFlow(const classfile::CodeAttribute& code,
                                    absl::Span<const PlacedCount> counters,
                                    absl::Span<const OpenActivations> open,
                                    std::optional<int64_t> entries);

}  // namespace jtrace::postproc
