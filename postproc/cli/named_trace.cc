#include "postproc/cli/named_trace.h"

#include <errno.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "common/visible_text.h"
#include "postproc/support/strings.h"

namespace jtrace::control {

absl::StatusOr<Descriptor> OpenNamedFile(const JvmProcess& jvm,
                                         std::span<const std::string> answer) {
  using postproc::StrCat;
  if (answer.empty()) return absl::UnavailableError("the agent named no file");
  const std::string& path = answer.front();
  const auto parts = postproc::Split(path, '/');
  const bool is_whole = answer.size() == 1 && path.starts_with('/') && VisibleText(path) == path &&
                        std::find(parts.begin(), parts.end(), "..") == parts.end();
  if (!is_whole) {
    return absl::PermissionDeniedError(
        StrCat("JVM ", jvm.pid, " does not name a valid trace file: ", path));
  }
  return OpenFileOf(jvm.user, jvm.root, path);
}

absl::StatusOr<std::string> OpenNamedTrace(const JvmProcess& jvm,
                                           std::span<const std::string> answer) {
  const absl::StatusOr<Descriptor> file = OpenNamedFile(jvm, answer);
  if (!file.ok()) return file.status();
  return KeptOpen(*file);
}

absl::StatusOr<std::string> KeptOpen(const Descriptor& file) {
  using postproc::StrCat;
  const int kept = dup(file.get());  // without O_CLOEXEC
  if (kept < 0) return absl::UnavailableError(StrCat("no descriptor: ", strerror(errno)));
  return StrCat("/proc/self/fd/", kept);
}

}  // namespace jtrace::control
