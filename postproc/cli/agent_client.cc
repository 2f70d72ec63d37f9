#include "postproc/cli/agent_client.h"

#include <utility>

#include "postproc/cli/local_socket.h"
#include "postproc/support/strings.h"
#include "proto/control_protocol.h"

namespace jtrace::control {
namespace {

using postproc::StrCat;

constexpr std::chrono::milliseconds kConnectPatience = std::chrono::seconds(2);

absl::StatusOr<LocalSocket> Connect(const JvmProcess& jvm) {
  return LocalSocket::Connect(jvm.root, SocketPath(jvm.inner_user, jvm.inner_pid), jvm.user,
                              kConnectPatience);
}

// One line cannot contain another.
std::string OneLine(std::string_view text) {
  std::string line(text);
  for (char& c : line) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  return line;
}

}  // namespace

bool AnswerReader::Add(std::string_view bytes) {
  if (bytes.size() > kMostBytes - bytes_) return false;
  bytes_ += bytes.size();
  const size_t searched = rest_.size();
  rest_ += bytes;
  size_t begin = 0;
  for (size_t end = rest_.find('\n', searched); end != std::string::npos;
       end = rest_.find('\n', begin)) {
    AddLine(std::string_view(rest_).substr(begin, end - begin));
    begin = end + 1;
  }
  rest_.erase(0, begin);
  return true;
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
                        AnswerReader::TakeLine take, const Patience& patience) {
  const auto end = std::chrono::steady_clock::now() + patience.in_all;
  absl::StatusOr<LocalSocket> connection = Connect(jvm);
  if (!connection.ok()) return connection.status();
  const std::string request = StrCat(verb, argument.empty() ? "" : " ", OneLine(argument), "\n");
  if (request.size() > kMaxRequest) return absl::InvalidArgumentError("the request is too long");
  connection->LimitWaiting(patience.silence);
  if (absl::Status status = connection->Send(request); !status.ok()) return status;
  AnswerReader reader(std::move(take));
  while (true) {
    const absl::StatusOr<std::string> part = connection->Receive();
    if (!part.ok()) return part.status();
    if (part->empty()) break;
    if (!reader.Add(*part)) {
      return absl::ResourceExhaustedError(StrCat("the answer of JVM ", jvm.pid, " is longer than ",
                                                 AnswerReader::kMostBytes, " bytes"));
    }
    if (std::chrono::steady_clock::now() >= end) {
      return absl::DeadlineExceededError(StrCat("JVM ", jvm.pid, " does not finish its answer"));
    }
  }
  if (reader.exit_code() < 0) {
    return absl::UnavailableError(StrCat("JVM ", jvm.pid, " ended before it answered"));
  }
  return reader.exit_code();
}

}  // namespace jtrace::control
