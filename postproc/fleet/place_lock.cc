#include "postproc/fleet/place_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <string>
#include <system_error>
#include <utility>

#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "postproc/fleet/stable_ids.h"

namespace jtrace::postproc::fleet {
namespace {

// -1: there can be none.
int OpenLock(const std::filesystem::path& data, const std::filesystem::path& place) {
  std::error_code none;
  std::filesystem::create_directories(data / kCompactFolder, none);
  const auto hash = static_cast<uint64_t>(StableId(place.string()));
  const std::string file = data / kCompactFolder / absl::StrFormat("place-%02x", hash & 0xff);
  constexpr int kFlags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  const int fd = open(file.c_str(), O_RDWR | O_CREAT | kFlags, 0666);
  // Another user's can be locked, too.
  return fd >= 0 ? fd : open(file.c_str(), O_RDONLY | kFlags);
}

}  // namespace

PlaceLock PlaceLock::ToWrite(const std::filesystem::path& data,
                             const std::filesystem::path& place) {
  PlaceLock lock(OpenLock(data, place));
  while (lock.fd_ >= 0 && flock(lock.fd_, LOCK_SH) != 0 && errno == EINTR) {
  }
  return lock;
}

std::optional<PlaceLock> PlaceLock::ToMerge(const std::filesystem::path& data,
                                            const std::filesystem::path& place,
                                            absl::Duration patience) {
  constexpr absl::Duration kPause = absl::Milliseconds(50);
  PlaceLock lock(OpenLock(data, place));
  while (lock.fd_ >= 0 && flock(lock.fd_, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) break;
    if (patience <= absl::ZeroDuration()) return std::nullopt;
    absl::SleepFor(kPause);
    patience -= kPause;
  }
  return lock;
}

PlaceLock::PlaceLock(PlaceLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

PlaceLock::~PlaceLock() {
  if (fd_ >= 0) close(fd_);
}

}  // namespace jtrace::postproc::fleet
