#include "agent/recording/message_log.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/base/agent_file.h"
#include "common/visible_text.h"

namespace jtrace {
namespace {

void WriteLine(int fd, absl::string_view message) {
  const std::string line = absl::StrCat("jtrace: ", message, "\n");
  absl::string_view rest = line;
  while (!rest.empty()) {
    const ssize_t n = write(fd, rest.data(), rest.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;  // a pipe without a reader, for example
    rest.remove_prefix(static_cast<size_t>(n));
  }
}

int OpenForAppending(const std::string& file) {
  return open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
              0600);
}

}  // namespace

absl::StatusOr<std::unique_ptr<MessageLog>> MessageLog::Open(LogTarget target, std::string file) {
  if (target == LogTarget::kFile) {
    const AgentFd fd(OpenForAppending(file));
    const absl::Status own =
        fd.ok() ? CheckAgentFile(fd.get()) : absl::PermissionDeniedError(OpenErrorText(errno));
    if (!own.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("option 'log': cannot write '", file, "': ", own.message(),
                       "; choose another file with log=FILE, or log=stderr"));
    }
  }
  return std::unique_ptr<MessageLog>(new MessageLog(target, std::move(file)));
}

MessageLog::MessageLog(LogTarget target, std::string file)
    : target_(target), file_(std::move(file)) {}

// Messages contain names of classes, threads and files, and the log may be shown on a terminal.
void MessageLog::Line(absl::string_view raw_message) const {
  if (target_ == LogTarget::kNone) return;
  const std::string message = VisibleText({raw_message.data(), raw_message.size()});
  if (target_ == LogTarget::kStderr) {
    WriteLine(STDERR_FILENO, message);
    return;
  }
  const AgentFd fd(OpenForAppending(file_));
  if (fd.ok() && CheckAgentFile(fd.get()).ok()) WriteLine(fd.get(), message);
}

void LogToStderr(absl::string_view message) {
  WriteLine(STDERR_FILENO, VisibleLines({message.data(), message.size()}));
}

}  // namespace jtrace
