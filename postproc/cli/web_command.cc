#include "postproc/cli/web_command.h"

#include <errno.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <chrono>
#include <cstring>
#include <iostream>
#include <optional>
#include <utility>

#include "absl/strings/numbers.h"
#include "common/visible_text.h"
#include "postproc/cli/agent_client.h"
#include "postproc/cli/named_trace.h"
#include "postproc/cli/own_files.h"
#include "postproc/live/access.h"
#include "postproc/live/http_server.h"
#include "postproc/live/live_data.h"
#include "postproc/live/live_page.h"
#include "postproc/live/process_end.h"
#include "postproc/page/page_report.h"
#include "postproc/support/strings.h"
#include "proto/control_protocol.h"

namespace jtrace::control {
namespace {

using postproc::StrCat;

absl::Status NotRecording(const JvmProcess& jvm) {
  return absl::NotFoundError(
      StrCat("JVM ", jvm.pid, " is not recording; begin with: jtrace start ", jvm.pid));
}

bool IsNumberOf(absl::StatusCode code, std::string_view text) {
  int64_t number = 0;
  return postproc::ParseInteger(text, number) && number == static_cast<int64_t>(code);
}

// Has the agent write what it has, and passes its answer on: its file to stdout, errors to stderr.
int Flush(const JvmProcess& jvm) {
  bool is_idle = false;
  const auto take = [&](char kind, std::string_view text) {
    if (kind == kReasonLine) is_idle = IsNumberOf(absl::StatusCode::kFailedPrecondition, text);
    if (kind == kAnswerLine) std::cout << text << '\n';
    if (kind == kErrorLine) std::cerr << VisibleText(text) << '\n';
  };
  const absl::StatusOr<int> code = Ask(jvm, "flush", "", take);
  if (!code.ok()) {
    const absl::Status why = absl::IsNotFound(code.status()) ? NotRecording(jvm) : code.status();
    std::cerr << VisibleText(std::string(why.message())) << '\n';
  }
  std::cout.flush();
  if (is_idle || absl::IsNotFound(code.status())) return live::kNoRecording;
  return code.ok() ? *code : kExitFailed;
}

// jtrace-post replaces this process.
int WritePage(const Descriptor& trace, const std::vector<std::string>& options) {
  std::vector<std::string> command = {OwnPostProcessor(), "--report=html"};
  command.insert(command.end(), options.begin(), options.end());
  const absl::StatusOr<std::string> path = KeptOpen(trace);
  if (!path.ok()) {
    std::cerr << std::string(path.status().message()) << '\n';
    return kExitFailed;
  }
  command.push_back(*path);
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (std::string& part : command) arguments.push_back(part.data());
  arguments.push_back(nullptr);
  execv(arguments[0], arguments.data());
  std::cerr << "cannot run " << command[0] << ": " << strerror(errno) << '\n';
  return kExitFailed;
}

// The server, and what it serves, of one JVM.
class LivePageOfJvm {
 public:
  LivePageOfJvm(const JvmProcess& jvm, const WebOptions& options, std::ostream& err)
      : jvm_(jvm), options_(options), err_(err), signals_(context_), data_(context_, Source()) {}

  // Reads what is recorded by now: errors are for the command line then, not for the page.
  absl::Status Open();
  absl::Status Serve(std::ostream& out);

 private:
  live::LiveSource Source();
  absl::Status OpenTrace(std::string_view answer);
  std::string AnswerNow(uint64_t after) const;
  void Data(uint64_t after, live::HttpServer::Answer answer);

  const JvmProcess& jvm_;
  const WebOptions& options_;
  std::ostream& err_;
  boost::asio::io_context context_;
  boost::asio::signal_set signals_;
  std::optional<Descriptor> trace_;
  live::LiveData data_;
};

live::LiveSource LivePageOfJvm::Source() {
  return {.flush = [this] { return Flush(jvm_); },
          .open = [this](std::string_view answer) { return OpenTrace(answer); },
          .report = [this] { return WritePage(*trace_, options_.report); }};
}

absl::Status LivePageOfJvm::OpenTrace(std::string_view answer) {
  std::vector<std::string> lines;
  for (const std::string_view line : postproc::Split(answer, '\n')) {
    if (!line.empty()) lines.emplace_back(line);
  }
  absl::StatusOr<Descriptor> file = OpenNamedFile(jvm_, lines);
  if (!file.ok()) return file.status();
  trace_.emplace(*std::move(file));
  return absl::OkStatus();
}

std::string LivePageOfJvm::AnswerNow(uint64_t after) const {
  return live::LiveAnswer({jvm_.pid, jvm_.program}, data_.state(), after,
                          std::chrono::steady_clock::now());
}

// At once if the page has older data than there are, and these are fresh, or if it has none yet:
// then newer ones are made meanwhile. Else after a refresh.
void LivePageOfJvm::Data(uint64_t after, live::HttpServer::Answer answer) {
  const bool has_newer = data_.state().serial > after;
  if (has_newer && data_.IsFresh()) return answer(AnswerNow(after));
  if (has_newer && after == 0) {
    answer(AnswerNow(after));
    return data_.WhenRefreshed([] {});
  }
  data_.WhenRefreshed([this, after, answer = std::move(answer)] { answer(AnswerNow(after)); });
}

absl::Status LivePageOfJvm::Open() {
  data_.WhenRefreshed([this] { context_.stop(); });
  context_.run();
  context_.restart();
  const live::LiveState& state = data_.state();
  if (state.serial > 0) return absl::OkStatus();
  return state.has_recording ? absl::UnavailableError(state.message) : NotRecording(jvm_);
}

absl::Status LivePageOfJvm::Serve(std::ostream& out) {
  absl::StatusOr<live::LivePage> page = live::MakeLivePage(postproc::PageTemplate());
  if (!page.ok()) return page.status();
  live::HttpServer::Content content{
      .page = *std::move(page),
      .data = [this](uint64_t after, auto answer) { Data(after, std::move(answer)); },
      .data_now = [this] { return AnswerNow(0); }};
  const auto server =
      live::HttpServer::Listen(context_, options_.port, live::NewToken(), std::move(content));
  if (!server.ok()) return server.status();
  for (const int each : {SIGINT, SIGTERM, SIGHUP}) signals_.add(each);
  signals_.async_wait([this](boost::system::error_code error, int) {
    if (!error) context_.stop();
  });
  const live::ProcessEnd end(context_, jvm_.pid, [this] {
    err_ << "jtrace: JVM " << jvm_.pid << " has ended; the page keeps its last data until Ctrl-C"
         << std::endl;
    data_.JvmEnded();
  });
  out << (*server)->access().Url() << std::endl;
  context_.run();
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<WebOptions> ReadWebOptions(const std::vector<std::string>& rest) {
  constexpr std::string_view kPort = "--port=";
  WebOptions options;
  for (const std::string& option : rest) {
    if (option.starts_with(kPort)) {
      uint32_t port = 0;
      if (!absl::SimpleAtoi(option.substr(kPort.size()), &port) || port == 0 || port > UINT16_MAX) {
        return absl::InvalidArgumentError(StrCat("'", option.substr(kPort.size()),
                                                 "' is not a port; write --port=1024 to 65535"));
      }
      options.port = static_cast<uint16_t>(port);
    } else if (option.starts_with("--report") || option.starts_with("--format") ||
               option.starts_with("-o") || option.starts_with("--output") ||
               option.starts_with("--fail-on") || option == "--version" ||
               !option.starts_with("-")) {
      return absl::InvalidArgumentError(
          StrCat("web shows the page only, without '", option, "'; see jtrace report"));
    } else {
      options.report.push_back(option);
    }
  }
  return options;
}

std::string WebHelpText() {
  return
      R"(jtrace web: shows what is recorded in a running JVM as a page in the browser, while it grows

usage: jtrace web JVM [--port=N] [OPTION …]

Prints the address of the page, which has a token that only you should know, and serves the page on
127.0.0.1 until Ctrl-C. The options are jtrace-post's, as with report, in the form --NAME=VALUE.

  jtrace web 4711                           what is recorded in the JVM 4711
  jtrace web server.jar --port=8080         at a port that you choose, for ssh -L
  jtrace web 4711 --scope=app --sites=off   less detail: the application's frames, no lines
  jtrace web 4711 --source=src/main/java    with source text (for recordings with blocks=on)

While the page is looked at, the JVM is asked to write what it has, and the trace is read again:
about each second, but never for more than a fifth of the time. Nothing in the JVM is changed.
A recording must run: jtrace start 4711.
)";
}

absl::Status ServePage(const JvmProcess& jvm, const WebOptions& options, std::ostream& out,
                       std::ostream& err) {
  LivePageOfJvm page(jvm, options, err);
  if (absl::Status status = page.Open(); !status.ok()) return status;
  return page.Serve(out);
}

}  // namespace jtrace::control
