#include "agent/log.h"

#include <fcntl.h>
#include <unistd.h>

#include <utility>

#include "absl/strings/str_cat.h"

namespace jtrace {
namespace {

void WriteLine(int fd, absl::string_view message) {
  const std::string line = absl::StrCat("jtrace: ", message, "\n");
  absl::string_view rest = line;
  while (!rest.empty()) {
    const ssize_t n = write(fd, rest.data(), rest.size());
    if (n <= 0) return;  // nobody to tell
    rest.remove_prefix(static_cast<size_t>(n));
  }
}

}  // namespace

Log::Log(LogTarget target, std::string file) : target_(target), file_(std::move(file)) {}

void Log::Line(absl::string_view message) const {
  if (target_ == LogTarget::kNone) return;
  if (target_ == LogTarget::kStderr) {
    WriteLine(STDERR_FILENO, message);
    return;
  }
  const int fd = open(file_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return;
  WriteLine(fd, message);
  close(fd);
}

void LogToStderr(absl::string_view message) { WriteLine(STDERR_FILENO, message); }

}  // namespace jtrace
