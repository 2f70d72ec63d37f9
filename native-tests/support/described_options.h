// What DescribeOptions promises to restore, for tests that parse a description back.
#pragma once

#include "agent/options/options.h"

namespace jtrace {

// The options without what a description leaves out: where the trace and the agent's messages go,
// and who reaches the agent.
inline Options DescribedPart(Options options) {
  const Options initial;
  options.out = initial.out;
  options.log = initial.log;
  options.log_file = initial.log_file;
  options.control = initial.control;
  options.help = initial.help;
  options.version = initial.version;
  if (options.action == Action::kStop) options.action = initial.action;
  return options;
}

}  // namespace jtrace
