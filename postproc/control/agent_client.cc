#include "postproc/control/agent_client.h"

#include <utility>

#include "postproc/control/local_socket.h"
#include "postproc/support/strings.h"
#include "proto/control_protocol.h"

namespace jtrace::control {
namespace {

using postproc::StrCat;

absl::StatusOr<LocalSocket> Connect(const JvmProcess& jvm) {
  return LocalSocket::Connect(jvm.root + SocketPath(jvm.inner_user, jvm.inner_pid), jvm.user);
}

// One line cannot hold another.
std::string OneLine(std::string_view text) {
  std::string line(text);
  for (char& c : line) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  return line;
}

}  // namespace

void AnswerReader::Add(std::string_view bytes) {
  rest_ += bytes;
  for (size_t end; (end = rest_.find('\n')) != std::string::npos; rest_.erase(0, end + 1)) {
    AddLine(std::string_view(rest_).substr(0, end));
  }
}

void AnswerReader::AddLine(std::string_view line) {
  if (line == "0" || line == "1" || line == "2") {
    exit_code_ = line[0] - '0';
  } else if (!line.empty()) {
    take_(line[0], line.substr(1));
  }
}

bool HasAgent(const JvmProcess& jvm) { return Connect(jvm).ok(); }

absl::StatusOr<int> Ask(const JvmProcess& jvm, std::string_view verb, std::string_view argument,
                        AnswerReader::TakeLine take, std::chrono::milliseconds patience) {
  absl::StatusOr<LocalSocket> connection = Connect(jvm);
  if (!connection.ok()) return connection.status();
  const std::string request = StrCat(verb, argument.empty() ? "" : " ", OneLine(argument), "\n");
  if (request.size() > kMaxRequest) return absl::InvalidArgumentError("the request is too long");
  if (patience > std::chrono::milliseconds::zero()) connection->LimitWaiting(patience);
  if (absl::Status status = connection->Send(request); !status.ok()) return status;
  AnswerReader reader(std::move(take));
  while (true) {
    const absl::StatusOr<std::string> part = connection->Receive();
    if (!part.ok()) return part.status();
    if (part->empty()) break;
    reader.Add(*part);
  }
  if (reader.exit_code() < 0) {
    return absl::UnavailableError(StrCat("JVM ", jvm.pid, " ended before it answered"));
  }
  return reader.exit_code();
}

}  // namespace jtrace::control
