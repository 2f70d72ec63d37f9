// The options of `jtrace fleet`: their names, texts of the help, and parsers.
#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "postproc/cli/fleet_options.h"

namespace jtrace::control {

struct FleetOption {
  std::string_view name;
  std::string_view value;  // its value; empty: it takes none
  std::string_view help;
  absl::Status (*set)(std::string_view value, FleetOptions& options);
};

absl::Span<const FleetOption> AllFleetOptions();
// InvalidArgument, one line that names the nearest one, if there is none of that name.
absl::Status SetFleetOption(std::string_view argument, FleetOptions& options);

}  // namespace jtrace::control
