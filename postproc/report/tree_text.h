// The call tree as text.
#pragma once

#include <cstddef>
#include <ostream>

#include "postproc/report/report.h"

namespace jtrace::postproc {

// The settings of the tree as text.
struct TreeTextOptions {
  double filter_percent = 0;  // nodes below that share of the whole are folded into one line
  size_t max_lines = 0;       // 0: all
  // Threads with events come first; the others (the JVM's own) have only one line.
  bool program_first = false;
  bool folds_chains = true;  // nodes of one child each without self of weight are one line
  int64_t heaviest = 0;      // only so many nodes, by self, and those above them; 0: all
};
// The tree with lines between the nodes, shares of the whole, ticks or time, and calls.
void WriteTreeText(const ReportInput& input, const TreeTextOptions& options, std::ostream& out);

}  // namespace jtrace::postproc
