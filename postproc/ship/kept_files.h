// Bounds of what the shipper's folders keep.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "postproc/ship/own_folder.h"
#include "postproc/ship/sealed_traces.h"

namespace jtrace::ship {

// How long, and how much; both hold.
struct Keep {
  absl::Duration longest = absl::Hours(24);
  uint64_t most_bytes = uint64_t{1} << 30;
  bool keeps_none() const { return longest <= absl::ZeroDuration() || most_bytes == 0; }
};

// "30s", "1h", "7d"; none if it is not a time.
std::optional<absl::Duration> ParseTime(std::string_view text);
// "1d", "1GB" or "0": sets one of the two, or both.
absl::Status SetKeep(std::string_view option, std::string_view text, Keep& keep);

// Removes the traces of the folder that were moved there first, and their reasons, so that the rest
// is within the bounds; how many. Other files stay.
size_t RemoveOldTraces(const OwnFolder& folder, const Keep& keep, absl::Time now);

// Which of them to drop, from the oldest on, so that the rest has at most `most` bytes.
size_t CountToDrop(const std::vector<SealedTrace>& oldest_first, uint64_t most);

}  // namespace jtrace::ship
