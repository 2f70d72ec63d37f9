#include "agent/base/own_file.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

namespace jtrace {
namespace {

constexpr char kNoFile[] = "it is not a file";

}  // namespace

absl::Status CheckOwnFile(int fd) {
  struct stat info;
  if (fstat(fd, &info) != 0) return absl::ErrnoToStatus(errno, "fstat");
  if (S_ISCHR(info.st_mode)) return absl::OkStatus();  // /dev/null
  if (!S_ISREG(info.st_mode)) return absl::PermissionDeniedError(kNoFile);
  if (info.st_uid != geteuid()) return absl::PermissionDeniedError("it belongs to another user");
  if (info.st_nlink != 1) return absl::PermissionDeniedError("it has a second name (a hard link)");
  return absl::OkStatus();
}

std::string WhyNotOpened(int error) {
  if (error == ENXIO) return kNoFile;  // a pipe without a reader, or a socket
  if (error == ELOOP) return "it is a symbolic link";
  return strerror(error);
}

}  // namespace jtrace
