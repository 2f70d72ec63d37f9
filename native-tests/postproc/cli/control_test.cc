// The jtrace command without a JVM: command line, /proc, both protocols.
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "postproc/cli/agent_client.h"
#include "postproc/cli/attach.h"
#include "postproc/cli/attach_capability.h"
#include "postproc/cli/jtrace_command.h"
#include "postproc/cli/jvm_process.h"
#include "postproc/cli/start_options.h"
#include "postproc/support/strings.h"
#include "proto/control_protocol.h"

namespace jtrace::control {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string NewFolder() {
  std::string folder = ::testing::TempDir() + "/jtraceXXXXXX";
  EXPECT_NE(mkdtemp(folder.data()), nullptr);
  return folder;
}

struct Outcome {
  int code;
  std::string out, err;
};

Outcome RunWith(std::vector<std::string_view> args) {
  std::ostringstream out, err;
  const int code = RunJtrace(args, out, err);
  return {code, out.str(), err.str()};
}

TEST(JtraceCommandTest, HelpShowsEveryCommandWithAnExample) {
  const Outcome help = RunWith({"--help"});
  EXPECT_EQ(help.code, 0);
  for (const char* verb : {"start", "stop", "resume", "report", "dump", "status", "mark", "list"}) {
    EXPECT_THAT(help.out, HasSubstr(postproc::StrCat("\n  ", verb, " ")));
    EXPECT_THAT(help.out, HasSubstr(postproc::StrCat("e.g. jtrace ", verb)));
  }
}

TEST(JtraceCommandTest, HelpIsShownWhereverItIsRequested) {
  EXPECT_EQ(RunWith({"stop", "--help"}).out, HelpText());
  EXPECT_EQ(RunWith({"stop", "2147483646", "-h"}).out, HelpText());
}

TEST(JtraceCommandTest, StartHasHelpOfItsOwn) {
  EXPECT_EQ(RunWith({"start", "--help"}).out, StartHelpText());
  EXPECT_EQ(RunWith({"start", "2147483646", "-h"}).out, StartHelpText());
  EXPECT_THAT(StartHelpText(), HasSubstr("jtrace start 4711 --probes include=com.acme.**"));
}

TEST(JtraceCommandTest, WrongUsageIsOneLineWithTheRemedy) {
  const std::pair<std::vector<std::string_view>, std::string> cases[] = {
      {{"strat", "1"}, "did you mean 'start'?"},
      {{}, "see jtrace --help"},
      {{"stop"}, "needs a JVM"},
      {{"stop", "1", "now"}, "takes no further argument: 'now'"},
      {{"mark", "1"}, "needs a text"},
      {{"list", "foo"}, "takes no further argument: 'foo'"},
      {{"stop", "1", "-d", "3"}, "unknown option '-d'"},
      {{"start", "--libs=x", "1"}, "unknown option '--libs=x'"},
  };
  for (const auto& [args, message] : cases) {
    const Outcome outcome = RunWith(args);
    EXPECT_EQ(outcome.code, 1);
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, HasSubstr(message));
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1);
  }
}

TEST(JtraceCommandTest, UnreachableJvmsAreExitCode2) {
  EXPECT_EQ(RunWith({"status", "2147483646"}).code, 2);
  EXPECT_THAT(RunWith({"start", "2147483646"}).err, HasSubstr("there is no process"));
  const std::string same_in_32_bits = std::to_string((int64_t{1} << 32) + getppid());
  EXPECT_THAT(RunWith({"status", same_in_32_bits}).err, HasSubstr("there is no process"));
  EXPECT_THAT(RunWith({"start", std::to_string(getpid())}).err, HasSubstr("is not a JVM"));
}

TEST(JtraceCommandTest, OptionsOfTheAgentAndOfReportsPassThrough) {
  const auto start = ParseCommandLine(
      std::vector<std::string_view>{"start", "-d", "30", "7", "out=a.bin", "include=a.**;b.**"});
  ASSERT_TRUE(start.ok());
  EXPECT_EQ(start->target, "7");
  EXPECT_EQ(AgentOptions(*start), "out=a.bin,include=a.**;b.**,duration=30");
  const auto report =
      ParseCommandLine(std::vector<std::string_view>{"report", "7", "-o", "x", "--top=3"});
  ASSERT_TRUE(report.ok());
  EXPECT_THAT(report->rest, ElementsAre("-o", "x", "--top=3"));
  const auto mark =
      ParseCommandLine(std::vector<std::string_view>{"mark", "7", "build", "-d", "1"});
  ASSERT_TRUE(mark.ok());
  EXPECT_THAT(mark->rest, ElementsAre("build", "-d", "1"));
}

TEST(JvmProcessTest, FindsTheProgramInACommandLine) {
  EXPECT_EQ(ProgramOf({"java", "-Xmx1g", "-cp", "a.jar:b", "com.acme.Main", "x"}),
            "com.acme.Main x");
  EXPECT_EQ(ProgramOf({"java", "-jar", "app.jar", "-v"}), "app.jar -v");
  EXPECT_EQ(ProgramOf({"java", "--add-opens", "a/b=c", "-m", "m/Main"}), "m/Main");
  EXPECT_EQ(ProgramOf({"java", "Main", "\x1b[31mred\u202E"}), "Main \\x1b[31mred\\u202e");
  EXPECT_EQ(ProgramOf({"\x1b[31mred"}), "\\x1b[31mred") << "a launcher is named by its starter";
  EXPECT_EQ(ProgramOf({"/jdk/bin/javac", "--release", "17"}), "javac");
}

// A /proc with one process in a container.
class ProcTest : public ::testing::Test {
 protected:
  void Add(const std::string& pid, const std::string& status, const std::string& maps,
           const std::string& command) {
    const std::string folder = proc_ + "/" + pid;
    std::filesystem::create_directories(std::filesystem::path(folder) / "root" / "tmp");
    std::ofstream(folder + "/status") << status;
    std::ofstream(folder + "/maps") << maps;
    std::ofstream(folder + "/cmdline") << command;
  }
  std::string Status(const std::string& caught) {
    return postproc::StrCat("Name:\tjava\nUid:\t1\t", geteuid(), "\t1\t1\nGid:\t1\t7\t7\t7\n",
                            "NSpid:\t100\t5\nSigCgt:\t", caught, "\n");
  }
  ProcTest() { SetSelf(getpid()); }
  // The link that shows whose numbers the folder has.
  void SetSelf(pid_t pid) {
    std::filesystem::remove(proc_ + "/self");
    if (pid != 0) std::filesystem::create_symlink(std::to_string(pid), proc_ + "/self");
  }
  std::string proc_ = NewFolder();
};

TEST_F(ProcTest, ReadsWhatAttachNeeds) {
  using namespace std::string_literals;
  Add("100", Status("0000000000000004"), "7f00 r-xp 0 0 /jdk/lib/server/libjvm.so\n",
      "java\0-cp\0x\0com.acme.Main\0"s);
  Add("101", Status("0000000000000004"), "7f00 r-xp 0 0 /lib/libc.so.6\n", "cat\0"s);
  const ProcessTable table(proc_);
  const auto jvm = table.Resolve("acme");
  ASSERT_TRUE(jvm.ok()) << jvm.status();
  EXPECT_EQ(jvm->pid, 100);
  EXPECT_EQ(jvm->inner_pid, 5);
  EXPECT_EQ(jvm->user, geteuid());
  EXPECT_EQ(jvm->group, 7u);
  EXPECT_TRUE(jvm->catches_quit);
  EXPECT_EQ(jvm->root, proc_ + "/100/root");
  EXPECT_FALSE(table.Find(101).ok());
  EXPECT_FALSE(table.Resolve("nothing").ok());
}

// Its numbers are those of other processes here, which would get the signals.
TEST_F(ProcTest, OfAnotherPidNamespaceIsNotUsed) {
  using namespace std::string_literals;
  Add("100", Status("0000000000000004"), "7f00 r-xp 0 0 /jdk/lib/server/libjvm.so\n",
      "java\0com.acme.Main\0"s);
  for (const pid_t self : {getpid() + 1, 0}) {
    SetSelf(self);
    for (const std::string name : {"100", "acme"}) {
      EXPECT_THAT(std::string(ProcessTable(proc_).Resolve(name).status().message()),
                  HasSubstr("another pid namespace"));
    }
  }
  SetSelf(getpid());
  EXPECT_TRUE(ProcessTable(proc_).Resolve("100").ok());
}

TEST_F(ProcTest, SelectsTheJvmOfThisFolderIfSeveralHaveTheName) {
  using namespace std::string_literals;
  for (const char* pid : {"100", "101"}) {
    Add(pid, Status("4"), "x /libjvm.so\n", "java\0-jar\0a.jar\0"s);
  }
  EXPECT_THAT(std::string(ProcessTable(proc_).Resolve("a.jar").status().message()),
              HasSubstr("give one of the pids 100 101"));
  std::filesystem::create_symlink(std::filesystem::current_path(), proc_ + "/101/cwd");
  const auto jvm = ProcessTable(proc_).Resolve("a.jar");
  ASSERT_TRUE(jvm.ok()) << jvm.status();
  EXPECT_EQ(jvm->pid, 101);
}

// SIGQUIT ends a process that does not handle it: it must not be sent.
TEST_F(ProcTest, AJvmThatDoesNotHandleSigquitGetsNoSignal) {
  Add("100", Status("0000000000000000"), "7f00 r-xp 0 0 /jdk/lib/server/libjvm.so\n", "java");
  auto jvm = ProcessTable(proc_).Find(100);
  ASSERT_TRUE(jvm.ok());
  jvm->pid = getpid();  // the signal would end this test
  const absl::Status status = LoadAgent(*jvm, "/x.so", "", std::chrono::milliseconds(10));
  EXPECT_TRUE(absl::IsUnavailable(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("SIGQUIT"));
}

// An entry as the JVM writes it, within others.
std::string PerformanceDataWith(std::string_view capabilities) {
  const std::string_view name("sun.rt.jvmCapabilities\0\0", 24);
  const auto size = static_cast<uint32_t>(20 + name.size() + capabilities.size());
  const uint32_t head[] = {size, 20, static_cast<uint32_t>(capabilities.size()), 0x42,
                           static_cast<uint32_t>(20 + name.size())};
  std::string data(32, '\1');
  data.append(reinterpret_cast<const char*>(head), sizeof head);
  return data.append(name).append(capabilities);
}

TEST(AttachCapabilityTest, IsTheFirstCharacterOfTheCapabilities) {
  EXPECT_EQ(AttachIsOn(PerformanceDataWith("1100000")), true);
  EXPECT_EQ(AttachIsOn(PerformanceDataWith("0100000")), false);
  EXPECT_EQ(AttachIsOn(""), std::nullopt);
  EXPECT_EQ(AttachIsOn("sun.rt.jvmCapabilities"), std::nullopt);
  EXPECT_EQ(AttachIsOn(PerformanceDataWith("")), std::nullopt);
}

// The signal would make the JVM print its threads on the program's stdout.
TEST_F(ProcTest, AJvmThatRejectsAttachGetsNoSignal) {
  Add("100", Status("4"), "x /libjvm.so\n", "java");
  auto jvm = ProcessTable(proc_).Find(100);
  ASSERT_TRUE(jvm.ok());
  const std::string folder = jvm->root + "/tmp/hsperfdata_user";
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/5") << PerformanceDataWith("0100000");
  jvm->pid = getpid();  // the signal would end this test
  const absl::Status status = LoadAgent(*jvm, "/x.so", "", std::chrono::milliseconds(10));
  EXPECT_THAT(std::string(status.message()), HasSubstr("-XX:+DisableAttachMechanism"));
}

// While it lives, this process has a thread of a JVM's listener, and SIGQUITs are counted.
class ListenerThread {
 public:
  ListenerThread() : before_(signal(SIGQUIT, [](int) { ++signals_; })) {
    signals_ = 0;
    thread_ = std::thread([this] {
      pthread_setname_np(pthread_self(), "Attach Listener");
      is_named_ = true;
      is_named_.notify_all();
      is_over_.wait(false);
    });
    is_named_.wait(false);
  }
  ~ListenerThread() {
    is_over_ = true;
    is_over_.notify_all();
    thread_.join();
    signal(SIGQUIT, before_);
  }
  int signals() const { return signals_; }

 private:
  static inline std::atomic<int> signals_ = 0;
  void (*const before_)(int);
  std::atomic<bool> is_named_ = false;
  std::atomic<bool> is_over_ = false;
  std::thread thread_;
};

// A JVM whose socket exists prints its threads at each further signal, also if nobody answers
// there.
TEST_F(ProcTest, OnlyAJvmWithoutASocketGetsFurtherSignals) {
  Add("100", Status("4"), "x /libjvm.so\n", "java");
  auto jvm = ProcessTable(proc_).Find(100);
  ASSERT_TRUE(jvm.ok());
  jvm->pid = getpid();
  jvm->user = geteuid();
  const auto signals_of_attach = [&] {
    const ListenerThread listener;
    EXPECT_FALSE(LoadAgent(*jvm, "/x.so", "", std::chrono::milliseconds(2500)).ok());
    return listener.signals();
  };
  EXPECT_GE(signals_of_attach(), 2);
  std::ofstream(jvm->root + "/tmp/.java_pid5") << "no socket";
  EXPECT_EQ(signals_of_attach(), 1);
}

// A server at `path` that accepts one connection, reads `bytes` and answers.
class OneShot {
 public:
  OneShot(const std::string& path, size_t bytes, std::string answer) {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
    server_ = socket(AF_UNIX, SOCK_STREAM, 0);
    EXPECT_EQ(bind(server_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    EXPECT_EQ(listen(server_, 1), 0);
    thread_ = std::thread([this, bytes, answer = std::move(answer)] {
      const int connection = accept(server_, nullptr, nullptr);
      char buffer[256];
      while (request.size() < bytes) {
        const ssize_t n = read(connection, buffer, sizeof(buffer));
        if (n <= 0) break;
        request.append(buffer, static_cast<size_t>(n));
      }
      EXPECT_EQ(write(connection, answer.data(), answer.size()),
                static_cast<ssize_t>(answer.size()));
      close(connection);
    });
  }
  ~OneShot() {
    Join();
    close(server_);
  }
  void Join() {
    if (thread_.joinable()) thread_.join();
  }
  std::string request;

 private:
  int server_;
  std::thread thread_;
};

TEST_F(ProcTest, SpeaksTheAttachProtocol) {
  using namespace std::string_literals;
  Add("100", Status("4"), "x /libjvm.so\n", "java");
  const auto jvm = ProcessTable(proc_).Find(100);
  ASSERT_TRUE(jvm.ok());
  const std::string expected = "1\0load\0/lib/libjtrace.so\0true\0serve\0"s;
  OneShot server(jvm->root + "/tmp/.java_pid5", expected.size(), "0\nreturn code: 0\n");
  EXPECT_TRUE(LoadAgent(*jvm, "/lib/libjtrace.so", "serve").ok());
  server.Join();
  EXPECT_EQ(server.request, expected);
}

TEST(AttachTest, ReportsWhyTheAgentDidNotStart) {
  EXPECT_TRUE(ReadLoadAnswer("0\nreturn code: 0\n").ok());
  EXPECT_TRUE(ReadLoadAnswer("0\n").ok());
  EXPECT_THAT(std::string(ReadLoadAnswer("0\nreturn code: 2\n").message()), HasSubstr("code 2"));
  EXPECT_THAT(std::string(ReadLoadAnswer("0\n/x.so was not loaded.\nno such file\n").message()),
              HasSubstr("was not loaded"));
  EXPECT_FALSE(ReadLoadAnswer("100\nnot allowed\n").ok());
  EXPECT_FALSE(ReadLoadAnswer("").ok());
}

TEST_F(ProcTest, SendsRequestsToTheAgent) {
  Add("100", Status("4"), "x /libjvm.so\n", "java");
  const auto jvm = ProcessTable(proc_).Find(100);
  ASSERT_TRUE(jvm.ok());
  const std::string path = jvm->root + SocketPath(jvm->user, 5);
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  EXPECT_FALSE(HasAgent(*jvm));
  OneShot server(path, std::strlen("mark a b\n"), ".1 of 2\n=done\n!but\n2\n");
  std::vector<std::string> lines;
  const auto code = Ask(*jvm, "mark", "a\nb", [&](char kind, std::string_view text) {
    lines.push_back(postproc::StrCat(std::string(1, kind), text));
  });
  server.Join();
  EXPECT_EQ(server.request, "mark a b\n") << "a line break would begin another request";
  ASSERT_TRUE(code.ok());
  EXPECT_EQ(*code, 2);
  EXPECT_THAT(lines, ElementsAre(".1 of 2", "=done", "!but"));
}

TEST(AnswerReaderTest, ReadsLinesHoweverTheyArriveAndDetectsACut) {
  const std::string answer = ".x\n=a\n=b\n0\n";
  for (size_t cut = 0; cut <= answer.size(); ++cut) {
    std::vector<std::string> lines;
    AnswerReader reader([&](char, std::string_view text) { lines.emplace_back(text); });
    reader.Add(answer.substr(0, cut));
    EXPECT_EQ(reader.exit_code(), cut == answer.size() ? 0 : -1);
    reader.Add(answer.substr(cut));
    EXPECT_EQ(reader.exit_code(), 0);
    EXPECT_THAT(lines, ElementsAre("x", "a", "b"));
  }
}

TEST(InnerUserTest, FollowsTheMap) {
  EXPECT_EQ(InnerUser("         0          0 4294967295\n", 1000), 1000u);
  EXPECT_EQ(InnerUser("0 1000 1\n1 100000 65536\n", 1000), 0u);
  EXPECT_EQ(InnerUser("0 1000 1\n1 100000 65536\n", 100004), 5u);
  EXPECT_EQ(InnerUser("0 1000 1\n", 7), 7u);
  EXPECT_EQ(InnerUser("", 7), 7u);
}

}  // namespace
}  // namespace jtrace::control
