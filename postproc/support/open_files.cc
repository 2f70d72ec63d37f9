#include "postproc/support/open_files.h"

#include <sys/stat.h>

#include <filesystem>
#include <system_error>

#include "postproc/support/strings.h"

namespace jtrace::postproc {

bool HasFileOpen(int64_t pid, const std::string& path) {
  struct stat wanted {};
  if (pid <= 0 || stat(path.c_str(), &wanted) != 0) return false;
  std::error_code error;
  for (std::filesystem::directory_iterator it(StrCat("/proc/", pid, "/fd"), error), end;
       !error && it != end; it.increment(error)) {
    struct stat open {};
    if (stat(it->path().c_str(), &open) != 0) continue;  // follows the link
    if (open.st_dev == wanted.st_dev && open.st_ino == wanted.st_ino) return true;
  }
  return false;
}

}  // namespace jtrace::postproc
