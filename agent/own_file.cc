#include "agent/own_file.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

namespace jtrace {

absl::Status CheckOwnFile(int fd) {
  struct stat info;
  if (fstat(fd, &info) != 0) return absl::ErrnoToStatus(errno, "fstat");
  if (S_ISCHR(info.st_mode)) return absl::OkStatus();  // /dev/null
  if (!S_ISREG(info.st_mode)) return absl::PermissionDeniedError("it is not a file");
  if (info.st_uid != geteuid()) return absl::PermissionDeniedError("it belongs to another user");
  if (info.st_nlink != 1) return absl::PermissionDeniedError("it has a second name (a hard link)");
  return absl::OkStatus();
}

}  // namespace jtrace
