// Keeps conversions and `jtrace fleet compact` apart, for each service, day and host: one that
// writes reads first what is merged, and nothing is merged until it has written.
//
// The lock is on a file of the folder of tables, "_compact/place-3f"; engines skip names that begin
// with "_". Some places share one, so that there are never many. Where there can be no such file,
// and where the file system has no locks, the holder goes on without.
#pragma once

#include <filesystem>
#include <optional>

#include "absl/time/time.h"

namespace jtrace::postproc::fleet {

// In the folder of tables; no table has this name.
inline constexpr char kCompactFolder[] = "_compact";

// Until it is destroyed.
class PlaceLock {
 public:
  // Shared with others that write. Waits until nothing is merged there.
  static PlaceLock ToWrite(const std::filesystem::path& data, const std::filesystem::path& place);
  // None if somebody still writes when the patience is over.
  static std::optional<PlaceLock> ToMerge(const std::filesystem::path& data,
                                          const std::filesystem::path& place,
                                          absl::Duration patience);
  PlaceLock(PlaceLock&& other) noexcept;
  PlaceLock& operator=(PlaceLock&&) = delete;
  ~PlaceLock();

 private:
  explicit PlaceLock(int fd) : fd_(fd) {}

  int fd_;  // -1: without
};

}  // namespace jtrace::postproc::fleet
