#include "postproc/cli/attach.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <thread>

#include "absl/strings/match.h"
#include "postproc/cli/attach_capability.h"
#include "postproc/cli/local_socket.h"
#include "postproc/cli/root_folder.h"
#include "postproc/support/strings.h"

namespace jtrace::control {
namespace {

using postproc::ConsumePrefix;
using postproc::StrCat;

constexpr std::string_view kReturnCode = "return code: ";
constexpr size_t kLongestAnswer = size_t{64} * 1024;
// The time for the JVM to load the library and to run its Agent_OnAttach.
constexpr std::chrono::milliseconds kLoadPatience = std::chrono::minutes(2);
// For a JVM that is still starting; the agent itself waits as long (kMostStarting of
// agent/session/jvm_session.cc).
constexpr std::chrono::seconds kMostStarting{20};
constexpr std::chrono::milliseconds kLongestPause{100};
// A JVM that gets the request early in its start may make its socket, and then delete it as that of
// an earlier process of its pid. It makes a new one at the next SIGQUIT. That is sent only while
// the listener runs and no file has its socket's name: the JVM would print its threads otherwise.
constexpr std::string_view kListenerThread = "Attach Listener";
constexpr std::chrono::seconds kListenerPatience{1};

// What to change where the JVM's /tmp does not take the file of an attach.
std::string_view RemedyForTmp(int error) {
  // The file system belongs to a user namespace without a number for this user.
  if (error == EOVERFLOW)
    return "; its user namespace does not know this user: run jtrace as its user";
  return "; the JVM needs a writable /tmp";
}

std::string SocketName(const JvmProcess& jvm) { return StrCat(".java_pid", jvm.inner_pid); }

// The file in the JVM's /tmp that marks the SIGQUIT as an attach request; removed at the end.
class AttachRequest {
 public:
  AttachRequest(const JvmProcess& jvm, Descriptor folder)
      : jvm_(jvm), folder_(std::move(folder)), name_(StrCat(".attach_pid", jvm.inner_pid)) {}
  ~AttachRequest() {
    if (made_) unlinkat(folder_.get(), name_.c_str(), 0);
  }
  AttachRequest(const AttachRequest&) = delete;
  AttachRequest& operator=(const AttachRequest&) = delete;

  absl::Status Make() {
    unlinkat(folder_.get(), name_.c_str(), 0);  // of an attach that was cut off
    const Descriptor file(openat(folder_.get(), name_.c_str(),
                                 O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (file.get() < 0) {
      return absl::UnavailableError(StrCat("cannot make ", jvm_.root, "/tmp/", name_, ": ",
                                           strerror(errno), RemedyForTmp(errno)));
    }
    made_ = true;
    // Root attaches for another user: the JVM accepts only files of its own user.
    const bool is_owned = geteuid() == jvm_.user || fchown(file.get(), jvm_.user, jvm_.group) == 0;
    if (is_owned) return absl::OkStatus();
    return absl::UnavailableError(StrCat("cannot give /tmp/", name_, " to the JVM's user"));
  }

  // Whether the JVM listens without a socket.
  bool LacksSocket() const {
    struct stat file;
    return fstatat(folder_.get(), SocketName(jvm_).c_str(), &file, AT_SYMLINK_NOFOLLOW) != 0 &&
           errno == ENOENT && HasThread(jvm_, kListenerThread);
  }

 private:
  const JvmProcess& jvm_;
  const Descriptor folder_;
  const std::string name_;
  bool made_ = false;
};

absl::StatusOr<LocalSocket> ConnectToListener(const JvmProcess& jvm) {
  return LocalSocket::Connect(jvm.root, StrCat("/tmp/", SocketName(jvm)), jvm.user);
}

absl::Status NoAnswer(const JvmProcess& jvm) {
  return absl::UnavailableError(
      StrCat("JVM ", jvm.pid, " does not answer the attach request: it hangs, or is stopped"));
}

absl::Status AwaitListener(const JvmProcess& jvm, const AttachRequest& request,
                           std::chrono::milliseconds patience) {
  if (kill(jvm.pid, SIGQUIT) != 0) {
    return absl::UnavailableError(StrCat("cannot signal ", jvm.pid, ": ", strerror(errno)));
  }
  const auto begin = std::chrono::steady_clock::now();
  auto asked = begin;
  for (auto pause = std::chrono::milliseconds(1);; pause = std::min(2 * pause, kLongestPause)) {
    if (ConnectToListener(jvm).ok()) return absl::OkStatus();
    const auto now = std::chrono::steady_clock::now();
    if (now - begin >= patience) return NoAnswer(jvm);
    if (now - asked >= kListenerPatience && request.LacksSocket()) {
      kill(jvm.pid, SIGQUIT);
      asked = now;
    }
    std::this_thread::sleep_for(pause);
  }
}

absl::Status WakeListener(const JvmProcess& jvm, std::chrono::milliseconds patience) {
  if (!jvm.catches_quit) {
    return absl::UnavailableError(
        StrCat("JVM ", jvm.pid,
               " does not listen for attach requests: it is just starting, or its program took "
               "over SIGQUIT; try again, or load the agent with -agentpath"));
  }
  if (RefusesAttach(jvm)) {
    return absl::PermissionDeniedError(StrCat(
        "JVM ", jvm.pid, " runs with -XX:+DisableAttachMechanism; load the agent with -agentpath"));
  }
  absl::StatusOr<Descriptor> folder = OpenInRoot(jvm.root, "/tmp", O_PATH | O_DIRECTORY);
  if (!folder.ok()) {
    return absl::NotFoundError(
        StrCat(std::string(folder.status().message()), RemedyForTmp(ENOENT)));
  }
  AttachRequest request(jvm, *std::move(folder));
  if (absl::Status status = request.Make(); !status.ok()) return status;
  return AwaitListener(jvm, request, patience);
}

absl::StatusOr<LocalSocket> ConnectToJvm(const JvmProcess& jvm,
                                         std::chrono::milliseconds patience) {
  absl::StatusOr<LocalSocket> connection = ConnectToListener(jvm);
  if (connection.ok()) return connection;
  if (absl::Status status = WakeListener(jvm, patience); !status.ok()) return status;
  return ConnectToListener(jvm);
}

}  // namespace

absl::Status ReadLoadAnswer(std::string_view answer) {
  const size_t end = answer.find('\n');
  const std::string_view status = answer.substr(0, end);
  std::string_view text =
      end == std::string_view::npos ? std::string_view() : answer.substr(end + 1);
  while (text.ends_with("\n")) text.remove_suffix(1);
  if (status != "0") {
    return absl::UnavailableError(
        StrCat("the JVM refused to load the agent", text.empty() ? "" : ": ", text));
  }
  std::string_view code = text;
  if (ConsumePrefix(code, kReturnCode)) {
    if (code == "0") return absl::OkStatus();
    return absl::UnavailableError(
        StrCat("the agent did not start (code ", code, "); its reason is on the JVM's stderr"));
  }
  // JDK 17 answers nothing else; any other text is an error's.
  return text.empty() ? absl::OkStatus()
                      : absl::UnavailableError(StrCat("the JVM did not load the agent: ", text));
}

namespace {

absl::Status LoadAgentOnce(const JvmProcess& jvm, const std::string& path, std::string_view options,
                           std::chrono::milliseconds patience) {
  absl::StatusOr<LocalSocket> connection = ConnectToJvm(jvm, patience);
  if (!connection.ok()) return connection.status();
  std::string request;
  for (const std::string_view part : {std::string_view("1"), std::string_view("load"),
                                      std::string_view(path), std::string_view("true"), options}) {
    request += part;
    request += '\0';
  }
  if (absl::Status status = connection->Send(request); !status.ok()) return status;
  connection->LimitWaiting(kLoadPatience);
  std::string answer;
  while (true) {
    const absl::StatusOr<std::string> part = connection->Receive();
    if (!part.ok()) {
      return absl::UnavailableError(StrCat(
          "JVM ", jvm.pid, " closed the attach connection (", std::string(part.status().message()),
          "): it ended, or its user namespace does not know this user; run jtrace as its user"));
    }
    answer += *part;
    if (part->empty() || answer.size() > kLongestAnswer) return ReadLoadAnswer(answer);
  }
}

// JDK 24 and later answer attaches before they load agents; for older ones the agent itself waits.
bool IsStarting(const absl::Status& status) {
  return absl::StrContains(status.message(), "only permitted in the live phase");
}

}  // namespace

absl::Status LoadAgent(const JvmProcess& jvm, const std::string& path, std::string_view options,
                       std::chrono::milliseconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + kMostStarting;
  while (true) {
    absl::Status status = LoadAgentOnce(jvm, path, options, patience);
    if (!IsStarting(status) || std::chrono::steady_clock::now() >= deadline) return status;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

}  // namespace jtrace::control
