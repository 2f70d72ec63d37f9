// The runs of a file that `jtrace fleet compact` merged: converted again they would count twice,
// because their new file would not replace the merged one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"

namespace jtrace::postproc::fleet {

inline constexpr char kRunsNote[] = "_runs";

// A note in the folder of a partition's runs. Its name begins with "_": engines take it for no
// table.
absl::Status WriteMergedRuns(const std::filesystem::path& folder, const std::vector<int64_t>& runs);
// None if there is no note.
absl::flat_hash_set<int64_t> ReadMergedRuns(const std::filesystem::path& folder);

}  // namespace jtrace::postproc::fleet
