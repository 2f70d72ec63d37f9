// The agent's own messages: one line when recording starts, one when it ends, and at most one more
// if something goes wrong. Never on the program's stdout.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "agent/options/options.h"

namespace jtrace {

class MessageLog {
 public:
  // InvalidArgument, one line, if the file cannot be written.
  static absl::StatusOr<std::unique_ptr<MessageLog>> Open(LogTarget target, std::string file);
  // Writes "jtrace: MESSAGE\n" with one write(), so that lines of several threads do not mix.
  // Control characters, including line ends, are written in a visible form. Any thread, not in a
  // signal handler.
  void Line(absl::string_view message) const;

 private:
  MessageLog(LogTarget target, std::string file);

  LogTarget target_;
  std::string file_;
};

// For messages that do not depend on log=: a bad option, a start that failed. Keeps line ends.
void LogToStderr(absl::string_view message);

}  // namespace jtrace
