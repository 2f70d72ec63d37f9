// --header-file: headers with passwords, which must not be on a command line.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace jtrace::ship {

// A header a line, "Authorization: Bearer …"; empty lines and lines that begin with # are left out.
// An error names the line, not its content.
absl::StatusOr<std::vector<std::string>> ReadHeaders(const std::string& file);

}  // namespace jtrace::ship
