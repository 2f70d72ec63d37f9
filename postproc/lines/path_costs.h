// bytecodes and cycles as metrics of the call tree (S4.1).
#pragma once

#include <string_view>

#include "postproc/calltree/tree_builder.h"
#include "postproc/lines/block_log.h"
#include "postproc/lines/instruction_costs.h"
#include "postproc/lines/line_profile.h"

namespace jtrace::postproc {

inline constexpr std::string_view kBytecodes = "bytecodes";
inline constexpr std::string_view kCycles = "cycles";

inline bool IsCostMetric(std::string_view metric) {
  return metric == kBytecodes || metric == kCycles;
}

// blocks=paths: at each node those of its own instructions. After the builder has finished.
void AddPathCosts(const BlockLog& log, const InstructionCosts& costs, TraceModel& model,
                  TreeBuilder& builder);

// blocks=on: by method, below a root of their own: nothing is known of paths.
void AddMethodCosts(const LineProfile& lines, TraceModel& model, TreeBuilder& builder);

}  // namespace jtrace::postproc
