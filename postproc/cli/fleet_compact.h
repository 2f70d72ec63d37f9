// `jtrace fleet compact`: many small files of past days become one file a table, service, day and
// host.
#pragma once

#include <ostream>

#include "absl/status/status.h"
#include "postproc/cli/fleet_options.h"

namespace jtrace::control {

// Prints what became of which files. A query at any moment, and after a kill, finds each row once.
absl::Status CompactFleet(const FleetOptions& options, std::ostream& out);

}  // namespace jtrace::control
