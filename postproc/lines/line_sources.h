// What counts of lines come from, for reports that show more than a LineProfile has.
#pragma once

#include <string>
#include <vector>

#include "postproc/lines/block_log.h"
#include "postproc/lines/instruction_costs.h"
#include "postproc/lines/line_ticks.h"

namespace jtrace::postproc {

struct LineSources {
  const BlockLog& blocks;
  const LineTicks& ticks;
  InstructionCosts costs;
  // "pkg.Outer$Inner.run(int)": methods of classes that --classes has and that were never loaded.
  std::vector<std::string> never_loaded;
};

}  // namespace jtrace::postproc
