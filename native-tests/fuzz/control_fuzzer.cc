// Fuzz target of the control socket, both ends. The first byte chooses:
//   'c' what clients do, one after the other: the server's end, without its threads and its clock
//   'a' the answer of an agent, whose JVM is another user's, to the jtrace command: in one piece,
//       and in pieces of as many bytes as the second byte says
//   'p' the command line of another's process, as /proc shows it to `jtrace list`; then its uid_map
// For any input: commands get whole lines of bounded length; a client gets an answer that is
// well-formed, and complete or marked as cut off; all memory is released; an answer in pieces is
// the same answer; the text shown for a process does nothing to a terminal.
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/match.h"
#include "agent/control/connections.h"
#include "common/visible_text.h"
#include "native-tests/fuzz/control_commands.h"
#include "native-tests/fuzz/require.h"
#include "postproc/cli/agent_client.h"
#include "postproc/cli/attach.h"
#include "postproc/cli/jvm_process.h"
#include "proto/control_protocol.h"

namespace jtrace::fuzz {
namespace {

using control::AnswerReader;

// Small, so that short inputs reach them.
constexpr control::Limits kLimits = {
    .connections = 4, .answer_bytes = size_t{16} << 10, .all_answers_bytes = size_t{40} << 10};

using Lines = ControlCommands::Lines;

// A client and the server's end of its connection.
class Client {
 public:
  explicit Client(absl::Time now) {
    int ends[2];
    Require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0);
    fd_ = ends[0];
    const int least = 1;  // the kernel makes some KB of it: answers are sent in parts
    setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &least, sizeof(least));
    server_ = std::make_unique<control::Connection>(AgentFd(ends[1]), now, kLimits);
  }
  ~Client() { close(fd_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  void Send(std::string_view bytes) {
    const ssize_t n = send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n > 0) sent_ += bytes.substr(0, static_cast<size_t>(n));
  }
  void EndRequest() { shutdown(fd_, SHUT_WR); }
  void Read() {
    char buffer[4096];
    const ssize_t n = read(fd_, buffer, sizeof(buffer));
    if (n > 0) answer_.append(buffer, static_cast<size_t>(n));
    is_at_end_ = is_at_end_ || n == 0;
  }
  // As the connections' thread does.
  void Serve(const control::ConnectionContext& context, absl::Time now) {
    if (server_ == nullptr) return;
    const bool was_asked = server_->IsSubmitted();
    Require(server_->PollEvents() == 0 || server_->PollEvents() == POLLIN ||
            server_->PollEvents() == POLLOUT);
    if (server_->Serve(context, now)) {
      Require(!was_asked || server_->IsSubmitted());
      return;
    }
    server_ = nullptr;
  }

  // Has sent no request and has not been rejected.
  bool IsSilent() const { return server_ != nullptr && !server_->has_line(); }
  bool is_served() const { return server_ == nullptr; }
  bool is_at_end() const { return is_at_end_; }
  std::string_view sent() const { return sent_; }
  std::string_view answer() const { return answer_; }

 private:
  int fd_ = -1;
  std::unique_ptr<control::Connection> server_;  // null: it has ended
  std::string sent_, answer_;
  bool is_at_end_ = false;
};

class Script {
 public:
  // More than a client that reads the longest answer needs.
  static constexpr int kRounds = 64;

  explicit Script(std::string_view input) : input_(input) {}

  void Run() {
    while (!input_.empty()) {
      Step(TakeByte());
      Serve();
    }
    // All clients read until the end; one without a request waits in vain.
    for (int round = 0; round < kRounds && IsSomebodyServed(); ++round) {
      while (DoNext()) Serve();
      Serve();
      for (auto& client : clients_) {
        if (client != nullptr) client->Read();
      }
    }
    while (DoNext()) Serve();
    for (auto& client : clients_) Leave(client);
    Require(memory_.Reserve(kLimits.all_answers_bytes));
  }

 private:
  uint8_t TakeByte() {
    if (input_.empty()) return 0;
    const auto byte = static_cast<uint8_t>(input_[0]);
    input_.remove_prefix(1);
    return byte;
  }

  void Step(uint8_t byte) {
    auto& client = clients_[byte / 8 % clients_.size()];
    if (client == nullptr) client = std::make_unique<Client>(now_);
    switch (byte % 8) {
      case 0: {
        const size_t length = TakeByte();
        const std::string_view text = input_.substr(0, length);
        client->Send(text);
        input_.remove_prefix(text.size());
        break;
      }
      case 1:
        client->Send(std::string(TakeByte() * 257, 'x'));
        break;
      case 2:
        client->EndRequest();
        break;
      case 3:
        client->Read();
        break;
      case 4:
        now_ += absl::Milliseconds(100) * TakeByte();
        break;
      case 5:
        DoNext();
        break;
      case 6:
        Leave(client);
        break;
      default:  // a whole line
        client->Send(input_.substr(0, input_.find('\n')));
        client->Send("\n");
        input_.remove_prefix(std::min(input_.find('\n'), input_.size()));
        break;
    }
  }
  void Serve() {
    for (auto& client : clients_) {
      if (client != nullptr) client->Serve(context_, now_);
    }
  }

  bool IsSomebodyServed() const {
    return std::any_of(clients_.begin(), clients_.end(), [](const auto& client) {
      return client != nullptr && !client->is_at_end() && !client->IsSilent();
    });
  }

  // False: there is nothing to do.
  bool DoNext() {
    const auto request = queue_.Next(absl::InfinitePast());
    if (!request.has_value()) return false;
    Require(request->line.size() < control::kMaxRequest && !absl::StrContains(request->line, '\n'));
    control::CarryOut(*request, commands_, [] {});
    Require(commands_.done.back().request == request->line);
    return true;
  }

  void Leave(std::unique_ptr<Client>& client) {
    if (client == nullptr) return;
    if (client->is_served() && client->is_at_end()) CheckAnswer(*client);
    client = nullptr;
  }

  // The answer that a client got which read to the end.
  void CheckAnswer(const Client& client) {
    Lines lines;
    AnswerReader reader([&](char kind, std::string_view text) {
      Require(kind == control::kProgressLine || kind == control::kAnswerLine ||
              kind == control::kErrorLine || kind == control::kReasonLine);
      if (kind != control::kProgressLine && kind != control::kReasonLine) {
        lines.emplace_back(kind, text);
      }
    });
    Require(reader.Add(client.answer()));
    if (reader.exit_code() < 0) return;  // it was too slow, or sent nothing
    Require(client.answer().ends_with(std::string(1, static_cast<char>('0' + reader.exit_code())) +
                                      "\n"));
    const bool has_error = !lines.empty() && lines.back().first == control::kErrorLine;
    Require(has_error == (reader.exit_code() != control::kExitDone));
    const std::string_view line = client.sent().substr(0, client.sent().find('\n'));
    for (const ControlCommands::Done& done : commands_.done) {
      if (done.request == line && IsAnswerTo(done, lines, reader.exit_code())) return;
    }
    // No command ran: the request was rejected.
    Require(reader.exit_code() == control::kExitUsage && lines.size() == 1);
  }

  static bool IsAnswerTo(const ControlCommands::Done& done, const Lines& lines, int exit_code) {
    if (lines.size() >= done.lines.size() && exit_code == done.exit_code) {
      return std::equal(done.lines.begin(), done.lines.end(), lines.begin());
    }
    return exit_code == control::kExitFailed && absl::StrContains(lines.back().second, "cut off");
  }

  std::string_view input_;
  absl::Time now_ = absl::UnixEpoch();
  control::RequestQueue queue_;
  control::AnswerMemory memory_{kLimits.all_answers_bytes};
  const control::ConnectionContext context_ = {kLimits, queue_, memory_};
  ControlCommands commands_;
  std::array<std::unique_ptr<Client>, 4> clients_;
};

void CheckAgentsAnswer(std::string_view input) {
  if (input.empty()) return;
  const size_t piece = static_cast<uint8_t>(input[0]) + size_t{1};
  const std::string_view answer = input.substr(1);
  Lines whole, in_pieces;
  AnswerReader reader([&](char kind, std::string_view text) { whole.emplace_back(kind, text); });
  AnswerReader by_piece([&](char kind, std::string_view text) {
    Require(text.find('\n') == text.npos && IsOneLine(VisibleText(text) + "."));
    in_pieces.emplace_back(kind, text);
  });
  Require(reader.Add(answer));
  for (size_t at = 0; at < answer.size(); at += piece)
    Require(by_piece.Add(answer.substr(at, piece)));
  Require(whole == in_pieces && reader.exit_code() == by_piece.exit_code());
  Require(reader.exit_code() >= -1 && reader.exit_code() <= control::kExitFailed);
  const absl::Status loaded = control::ReadLoadAnswer(answer);
  Require(loaded.ok() ? answer.starts_with("0") : !loaded.message().empty());
}

void CheckProcess(std::string_view input) {
  std::string_view map = input.substr(std::min(input.find("\n\n"), input.size()));
  std::string_view line = input.substr(0, input.size() - map.size());
  std::vector<std::string> arguments;
  while (!line.empty()) arguments.emplace_back(TakePart(line));
  const std::string program = control::ProgramOf(arguments);
  Require(program.find('\n') == program.npos && VisibleText(program) == program);
  constexpr uid_t kUser = 1000;
  control::InnerUser(map, kUser);
}

}  // namespace
}  // namespace jtrace::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace jtrace::fuzz;  // NOLINT: a fuzz target
  CheckByForm(View(data, size), {{'c', [](std::string_view input) { Script(input).Run(); }},
                                 {'a', CheckAgentsAnswer},
                                 {'p', CheckProcess}});
  return 0;
}
