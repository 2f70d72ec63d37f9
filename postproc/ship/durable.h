// Changes of files that are still there after the machine's power failed.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "postproc/ship/own_folder.h"

namespace jtrace::ship {

// Makes a folder and those above it.
absl::Status MakeFolder(const std::string& folder);
// A file, of this user alone, that appears complete or not at all.
absl::Status WriteDurably(const OwnFolder& folder, const std::string& name,
                          std::string_view content);
// Both are folders of one file system. Returns the name that the file has now: a file of the old
// name is kept, and the moved one gets .2, .3, … at its end.
absl::StatusOr<std::string> MoveDurably(const std::string& from, const OwnFolder& to,
                                        const std::string& name);
// True if it is gone.
bool RemoveFile(const std::string& path);
// What was written below that folder, by any process.
absl::Status SyncFileSystem(const std::string& folder);

}  // namespace jtrace::ship
