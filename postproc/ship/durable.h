// Changes of files that are still there after the machine's power failed.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace jtrace::ship {

// Makes a folder and those above it.
absl::Status MakeFolder(const std::string& folder);
// A file that appears complete or not at all.
absl::Status WriteDurably(const std::string& path, std::string_view content);
// Both are folders of one file system. A file of the new name is kept: the moved one gets another
// name, with .2, .3, … at its end.
absl::Status MoveDurably(const std::string& from, const std::string& to);
// True if it is gone.
bool RemoveFile(const std::string& path);
// What was written below that folder, by any process.
absl::Status SyncFileSystem(const std::string& folder);

}  // namespace jtrace::ship
