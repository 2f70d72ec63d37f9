// Hostile answers and files of another user's agent when root runs jtrace.
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "postproc/cli/agent_client.h"
#include "postproc/cli/attach.h"
#include "postproc/cli/jtrace_command.h"
#include "postproc/cli/named_trace.h"
#include "postproc/cli/root_folder.h"
#include "postproc/support/strings.h"
#include "proto/control_protocol.h"

namespace jtrace::control {
namespace {

using postproc::StrCat;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string NewFolder() {
  std::string folder = ::testing::TempDir() + "/hostileXXXXXX";
  EXPECT_NE(mkdtemp(folder.data()), nullptr);
  return folder;
}

void Send(int connection, std::string_view data) {
  (void)!send(connection, data.data(), data.size(), MSG_NOSIGNAL);
}

// Listens at `path` and runs `talk` for each client.
class Listener {
 public:
  Listener(std::string path, std::function<void(int)> talk) : path_(std::move(path)) {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path_.c_str(), sizeof(address.sun_path) - 1);
    server_ = socket(AF_UNIX, SOCK_STREAM, 0);
    EXPECT_EQ(bind(server_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0) << path_;
    EXPECT_EQ(listen(server_, 1), 0);
    thread_ = std::thread([this, talk = std::move(talk)] {
      for (int connection; (connection = accept(server_, nullptr, nullptr)) >= 0;) {
        talk(connection);
        shutdown(connection, SHUT_WR);
        char rest[256];
        while (read(connection, rest, sizeof rest) > 0) {
        }
        close(connection);
      }
    });
  }
  ~Listener() {
    shutdown(server_, SHUT_RDWR);  // wakes accept
    thread_.join();
    close(server_);
    unlink(path_.c_str());
  }

 private:
  const std::string path_;
  int server_;
  std::thread thread_;
};

// The test's own process as a JVM: it maps a file of that name.
class HostileAgentTest : public ::testing::Test {
 protected:
  HostileAgentTest() {
    const std::string library = NewFolder() + "/libjvm.so";
    std::ofstream(library) << "x";
    const int fd = open(library.c_str(), O_RDONLY | O_CLOEXEC);
    mapped_ = mmap(nullptr, 1, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    mkdir(SocketFolder(geteuid()).c_str(), 0700);
  }
  ~HostileAgentTest() override { munmap(mapped_, 1); }

  struct Outcome {
    int code;
    std::string out, err;
  };
  // jtrace with `arguments` on this process, whose agent answers with `answer`.
  Outcome Run(std::vector<std::string_view> arguments, const std::string& answer) {
    const std::string pid = std::to_string(getpid());
    arguments.insert(arguments.begin() + 1, pid);
    const Listener agent(SocketPath(geteuid(), getpid()),
                         [&](int connection) { Send(connection, answer); });
    std::ostringstream out, err;
    const int code = RunJtrace(arguments, out, err);
    return {code, out.str(), err.str()};
  }

 private:
  void* mapped_;
};

TEST_F(HostileAgentTest, NoPartOfAnAnswerControlsTheTerminal) {
  const Outcome outcome = Run({"status"},
                              "=\x1b]0;x\x07y\r\n=\xc2\x9b"
                              "31m \u202Egpj\n!\x1b[2J\xff\n2\n");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.out, "\\x1b]0;x\\x07y\\x0d\n\\x9b31m \\u202egpj\n");
  EXPECT_EQ(outcome.err, "jtrace: \\x1b[2J\\xff\n");
}

TEST_F(HostileAgentTest, FormatsForProgramsArePassedOnUnchanged) {
  if (isatty(STDOUT_FILENO) != 0) GTEST_SKIP() << "on a terminal they are escaped";
  const std::string line = "jtrace_calls_total{thread=\"a\u0085\u202E\"} 1";
  const Outcome outcome = Run({"metrics", "--format=prometheus"}, StrCat("=", line, "\n0\n"));
  EXPECT_EQ(outcome.out, line + "\n");
}

TEST_F(HostileAgentTest, OnlyItsTraceIsRead) {
  for (const char* path : {"/tmp/../etc/passwd", "etc/passwd", "/etc", "/dev/zero"}) {
    const Outcome outcome = Run({"report"}, StrCat("=", path, "\n0\n"));
    EXPECT_EQ(outcome.code, 2) << path;
    EXPECT_THAT(outcome.err, Not(HasSubstr("jtrace-post"))) << "it was to be read";
  }
  EXPECT_THAT(Run({"report"}, "=/tmp/\x1b[2J\n0\n").err,
              AllOf(HasSubstr("\\x1b[2J"), Not(HasSubstr("\x1b"))));
}

TEST_F(HostileAgentTest, AnswersWithoutEndAreCutOff) {
  const Outcome outcome = Run({"status"}, std::string(AnswerReader::kMostBytes + 1, '='));
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("is longer than 33554432 bytes"));
}

// A JVM whose root folder is a folder of the test.
class HostileRootTest : public ::testing::Test {
 protected:
  HostileRootTest() {
    jvm_.pid = getpid();
    jvm_.inner_pid = 5;
    jvm_.user = jvm_.inner_user = geteuid();
    jvm_.group = getegid();
    jvm_.catches_quit = true;
    jvm_.root = NewFolder() + "/root";
    std::filesystem::create_directories(jvm_.root + "/tmp");
  }
  std::string InRoot(std::string_view path) const { return StrCat(jvm_.root, path); }
  std::string SocketInRoot() const { return InRoot(SocketPath(jvm_.user, 5)); }

  JvmProcess jvm_;
  const std::string outside_ = NewFolder();
};

TEST_F(HostileRootTest, AnswersHaveATimeLimit) {
  std::filesystem::create_directories(InRoot(SocketFolder(jvm_.user)));
  {
    const Listener silent(SocketInRoot(), [](int connection) {
      char byte;
      while (read(connection, &byte, 1) > 0) {
      }
    });
    const auto code =
        Ask(jvm_, "status", "", [](char, std::string_view) {},
            {.silence = std::chrono::milliseconds(20), .in_all = std::chrono::hours(1)});
    EXPECT_TRUE(absl::IsDeadlineExceeded(code.status())) << code.status();
  }
  const Listener endless(SocketInRoot(), [](int connection) {
    while (send(connection, ".\n", 2, MSG_NOSIGNAL) == 2) usleep(1000);
  });
  const auto code =
      Ask(jvm_, "status", "", [](char, std::string_view) {},
          {.silence = std::chrono::hours(1), .in_all = std::chrono::milliseconds(20)});
  EXPECT_TRUE(absl::IsDeadlineExceeded(code.status())) << code.status();
}

TEST_F(HostileRootTest, LinksDoNotLeadToSocketsElsewhere) {
  const Listener elsewhere(outside_ + "/5", [](int connection) { Send(connection, "0\n"); });
  for (const std::string& target : {outside_, "../../../../../../../../../../.." + outside_}) {
    const std::string link = InRoot(SocketFolder(jvm_.user));
    std::filesystem::create_symlink(target, link);
    EXPECT_FALSE(HasAgent(jvm_)) << target;
    std::filesystem::remove(link);
  }
}

// Attaching makes a file, and removes an existing one of its name.
TEST_F(HostileRootTest, LinksDoNotLeadAttachRequestsElsewhere) {
  signal(SIGQUIT, SIG_IGN);
  std::filesystem::remove_all(InRoot("/tmp"));
  std::filesystem::create_symlink(outside_, InRoot("/tmp"));
  std::ofstream(outside_ + "/.attach_pid5") << "mine";
  EXPECT_FALSE(LoadAgent(jvm_, "/x.so", "", std::chrono::milliseconds(10)).ok());
  std::string content;
  std::getline(std::ifstream(outside_ + "/.attach_pid5"), content);
  EXPECT_EQ(content, "mine");
}

std::string Content(const std::string& path) {
  std::string content;
  std::getline(std::ifstream(path), content);
  return content;
}

TEST_F(HostileRootTest, TheNamedTraceIsAFileOfTheJvmsUser) {
  const auto open = [&](std::string path) {
    return OpenNamedTrace(jvm_, std::vector{std::move(path)});
  };
  std::ofstream(InRoot("/tmp/a.bin")) << "trace";
  std::ofstream(outside_ + "/b.bin") << "other";
  const auto named = open("/tmp/a.bin");
  ASSERT_TRUE(named.ok()) << named.status();
  std::filesystem::rename(outside_ + "/b.bin", InRoot("/tmp/a.bin"));
  EXPECT_EQ(Content(*named), "trace") << "whatever the name means by now";

  std::filesystem::create_symlink("/tmp/a.bin", InRoot("/tmp/link"));
  std::filesystem::create_hard_link(InRoot("/tmp/a.bin"), outside_ + "/second_name");
  std::filesystem::create_directory_symlink(outside_, InRoot("/tmp/folder"));
  ASSERT_EQ(mkfifo(InRoot("/tmp/pipe").c_str(), 0600), 0);
  std::ofstream(outside_ + "/c.bin") << "other";
  for (const char* path : {"", "tmp/a.bin", "/tmp/../tmp/a.bin", "/tmp/a.bin\r", "/tmp/link",
                           "/tmp/a.bin", "/tmp", "/tmp/folder/c.bin", "/tmp/pipe", "/nowhere"}) {
    EXPECT_FALSE(open(path).ok()) << path;
  }
  EXPECT_FALSE(OpenNamedTrace(jvm_, {}).ok());
  std::ofstream(InRoot("/tmp/d.bin")) << "trace";
  EXPECT_TRUE(open("/tmp/d.bin").ok());
  EXPECT_FALSE(OpenNamedTrace(jvm_, std::vector<std::string>{"/tmp/d.bin", "more"}).ok());
  jvm_.user += 1;
  EXPECT_TRUE(absl::IsPermissionDenied(open("/tmp/d.bin").status())) << "another user's";
}

// As in a container whose /tmp is a link: it leads to a place in the container.
TEST_F(HostileRootTest, LinksLeadToPlacesBelowTheRoot) {
  std::filesystem::create_directories(InRoot("/var/tmp"));
  std::filesystem::remove_all(InRoot("/tmp"));
  std::filesystem::create_symlink("/var/tmp", InRoot("/tmp"));
  std::ofstream(InRoot("/var/tmp/a.bin")) << "trace";
  const auto file = OpenInRoot(jvm_.root, "/tmp/a.bin", O_RDONLY);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->Read(100), "trace");
  EXPECT_EQ(file->Read(100), "");
}

// As on a kernel before 5.6. False: this system has no filters.
bool TakeOpenat2Away() {
  sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
                        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
                        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog program = {std::size(code), code};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

TEST_F(HostileRootTest, OldKernelsFollowNoLinksAtAll) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto body = [this] {
    if (!TakeOpenat2Away()) return true;
    std::filesystem::create_directories(InRoot("/tmp/folder"));
    std::ofstream(InRoot("/tmp/folder/a.bin")) << "trace";
    std::filesystem::create_symlink("a.bin", InRoot("/tmp/folder/link"));
    std::filesystem::create_directory_symlink("folder", InRoot("/tmp/other"));
    const auto file = OpenInRoot(jvm_.root, "/tmp/folder/a.bin", O_RDONLY);
    const auto folder = OpenInRoot(jvm_.root, "/tmp", O_PATH | O_DIRECTORY);
    const bool opens_files = file.ok() && file->Read(100) == "trace" && folder.ok();
    // Out of the folder and into it again by its own name.
    const std::string back =
        "/../" + std::filesystem::path(jvm_.root).filename().string() + "/tmp/folder/a.bin";
    for (const std::string& path :
         {std::string("/tmp/folder/link"), std::string("/tmp/other/a.bin"),
          std::string("/tmp/../tmp/folder/a.bin"), back, std::string("/tmp/nothing")}) {
      if (OpenInRoot(jvm_.root, path, O_RDONLY).ok()) return false;
    }
    return opens_files;
  };
  EXPECT_EXIT(_exit(body() ? 0 : 1), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace jtrace::control
