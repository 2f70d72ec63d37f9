// What the command line says about the places of calls (sites=on).
#pragma once

#include "absl/status/status.h"
#include "postproc/calltree/call_tree.h"
#include "postproc/input/command_line.h"

namespace jtrace::postproc {

// Whether any of the reports distinguishes calls by their places.
bool ShowsSites(const CommandLine& line);

// Fails if --sites contradicts the reports.
absl::Status CheckSiteOptions(const CommandLine& line);
// Fails if a report needs places and the traces have none.
absl::Status CheckSites(const CommandLine& line, const CallTree& tree);

}  // namespace jtrace::postproc
