// The folder of tables that `jtrace fleet` reads.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "postproc/fleet/queries.h"

namespace jtrace::control {

// What the names of a file's folders say.
struct TablePlace {
  std::string service;
  std::string day;
  std::string host;
  std::filesystem::path folder;  // "service=…/day=…/host=…", as it is on the disk
};
// Of each file of a table's folder.
std::vector<TablePlace> PlacesOf(const std::filesystem::path& table);

// Whether there is any table below it.
bool HasTables(const std::filesystem::path& folder);

// NotFound if the folder has no runs; InvalidArgument if no run is of the wanted service, day and
// host.
absl::Status CheckFolder(const std::filesystem::path& data,
                         const postproc::fleet::RunFilter& filter);

}  // namespace jtrace::control
