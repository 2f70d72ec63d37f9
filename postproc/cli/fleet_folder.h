// The folder of tables that `jtrace fleet` reads.
#pragma once

#include <filesystem>

#include "absl/status/status.h"
#include "postproc/fleet/queries.h"

namespace jtrace::control {

// Whether there is any table below it.
bool HasTables(const std::filesystem::path& folder);

// NotFound if the folder has no runs; InvalidArgument if no run is of the wanted service, day and
// host.
absl::Status CheckFolder(const std::filesystem::path& data,
                         const postproc::fleet::RunFilter& filter);

}  // namespace jtrace::control
