#include "agent/control/server.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <fstream>

#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "native-tests/agent/control/server_fixture.h"

namespace jtrace::control {
namespace {

mode_t ModeOf(const std::string& path) {
  struct stat info = {};
  EXPECT_EQ(lstat(path.c_str(), &info), 0) << path;
  return info.st_mode & 07777;
}

TEST(ServerTest, AnswersOneRequestAConnection) {
  Fixture f;
  ASSERT_TRUE(f.server.problem().ok()) << f.server.problem();
  EXPECT_EQ(Ask(f.path, "start mode=events,out=/tmp/a b.bin\n"), ".half way\n=first\n=second\n0\n");
  EXPECT_EQ(Ask(f.path, "wrong\n"), ".half way\n=first\n=second\n!no such thing\n1\n");
  EXPECT_EQ(Ask(f.path, "fails x\n"), ".half way\n=first\n=second\n?14\n!cannot\n2\n");
  const std::lock_guard lock(f.commands.mutex);
  EXPECT_THAT(f.commands.requests,
              ::testing::ElementsAre("start|mode=events,out=/tmp/a b.bin", "wrong|", "fails|x"));
  EXPECT_NE(f.commands.thread, gettid());
  EXPECT_NE(f.commands.clients_thread, gettid());
  EXPECT_NE(f.commands.clients_thread, f.commands.thread);
}

TEST(ServerTest, OthersCannotReachTheSocket) {
  Fixture f;
  EXPECT_EQ(ModeOf(f.folder), 0700u);
  EXPECT_EQ(ModeOf(f.path), 0600u);
}

TEST(ServerTest, SurvivesPeersThatSendNothingOrTooMuch) {
  Fixture f;
  close(Connect(f.path));
  const int silent = Connect(f.path);
  const std::string endless(100'000, 'x');
  const int flooding = Connect(f.path);
  (void)!send(flooding, endless.data(), endless.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  close(flooding);
  EXPECT_THAT(Ask(f.path, "status\n"), ::testing::EndsWith("0\n"));
  close(silent);
}

TEST(ServerTest, WakesForDeadlinesAndOnRequest) {
  auto& commands = *new FakeCommands;
  commands.period = absl::Milliseconds(1);
  Server& server = Server::StartWithoutSocket(commands);
  while (commands.ticks < 5) absl::SleepFor(absl::Milliseconds(1));

  auto& patient = *new FakeCommands;
  Server& sleeping = Server::StartWithoutSocket(patient);
  while (patient.ticks < 1) absl::SleepFor(absl::Milliseconds(1));
  sleeping.Wake();
  while (patient.ticks < 2) absl::SleepFor(absl::Milliseconds(1));
  server.Close();
}

// A request that pauses lets others in, one at a time, and hears of those that must wait for it.
TEST(ServerTest, CarriesOutOthersInAPause) {
  Fixture f;
  const int paused = Send(f.path, "pause later\n");
  f.WaitForRequests(1);
  EXPECT_THAT(Ask(f.path, "status\n"), ::testing::EndsWith("0\n"));
  EXPECT_THAT(Ask(f.path, "flush\n"), ::testing::EndsWith("0\n"));
  const int ticks = f.commands.ticks;
  f.server.Wake();
  while (f.commands.ticks == ticks) absl::SleepFor(absl::Milliseconds(1));
  const int later = Send(f.path, "later\n");
  EXPECT_THAT(ReadAnswer(paused), ::testing::EndsWith("0\n"));
  EXPECT_THAT(ReadAnswer(later), ::testing::EndsWith("0\n"));
  EXPECT_THAT(f.Requests(), ::testing::ElementsAre("pause|later", "status|", "flush|", "later|"));
}

TEST(ServerTest, ClosedSocketIsRemoved) {
  Fixture f;
  f.server.Close();
  EXPECT_NE(access(f.path.c_str(), F_OK), 0);
  EXPECT_LT(Connect(f.path), 0);
}

TEST(SocketFolderTest, DoesNotFollowLinksOrTrustFoldersOfOthers) {
  const std::string base = NewFolder();
  const std::string link = base + "/link";
  ASSERT_EQ(symlink(base.c_str(), link.c_str()), 0);
  EXPECT_TRUE(absl::IsPermissionDenied(OwnFolder(link)));
  const std::string open_folder = base + "/open";
  ASSERT_EQ(mkdir(open_folder.c_str(), 0700), 0);
  ASSERT_EQ(chmod(open_folder.c_str(), 0750), 0);
  EXPECT_TRUE(absl::IsPermissionDenied(OwnFolder(open_folder)));
  const std::string file = base + "/file";
  std::ofstream(file) << "x";
  EXPECT_TRUE(absl::IsPermissionDenied(OwnFolder(file)));
  EXPECT_TRUE(OwnFolder(base + "/fresh").ok());
  EXPECT_TRUE(OwnFolder(base + "/fresh").ok()) << "the second time";
}

TEST(SocketFolderTest, ReplacesOnlyTheSocketOfADeadProcess) {
  const std::string path = NewFolder() + "/7";
  {
    const auto dead = ListenAt(path);
    ASSERT_TRUE(dead.ok()) << dead.status();
    EXPECT_TRUE(absl::IsAlreadyExists(ListenAt(path).status()));
  }
  EXPECT_EQ(access(path.c_str(), F_OK), 0) << "left behind";
  EXPECT_TRUE(ListenAt(path).ok());
}

// A pid that no process has: its last one was our child.
pid_t FreePid() {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  return child;
}

TEST(SocketFolderTest, RemovesTheSocketsOfKilledProcessesOnly) {
  const std::string folder = NewFolder();
  const auto path = [&](const std::string& name) { return absl::StrCat(folder, "/", name); };
  const std::string dead = absl::StrCat(FreePid());
  const std::string in_use = absl::StrCat(getpid());
  for (const std::string& name : {dead, in_use, std::string("other")}) {
    ASSERT_TRUE(ListenAt(path(name)).ok());
  }
  // As that of a JVM in another container, whose pids are not ours.
  const std::string contained = absl::StrCat(FreePid());
  const auto listening = ListenAt(path(contained));
  ASSERT_TRUE(listening.ok());
  const std::string file = absl::StrCat(FreePid());
  std::ofstream(path(file)) << "x";

  RemoveStaleSockets(folder);
  EXPECT_NE(access(path(dead).c_str(), F_OK), 0);
  for (const std::string& name : {in_use, std::string("other"), contained, file}) {
    EXPECT_EQ(access(path(name).c_str(), F_OK), 0) << name;
  }
}

// Closes everything that it did not open itself, as a daemon does; TSan would report close(2) as a
// race, which it is.
void CloseAllFromThree() {
  constexpr int kMaxDescriptors = 4096;
  for (int fd = 3; fd < kMaxDescriptors; ++fd) syscall(SYS_close, fd);
}

// In a separate program, because of its effects on descriptors and limits. One that is started
// anew: with TSan, a program with threads cannot fork and make threads.
template <typename Body>
void ExpectInProgramOfItsOwn(Body body) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(_exit(body() ? 0 : 1), ::testing::ExitedWithCode(0), "");
}

TEST(ServerTest, ListensAgainWhenTheProgramClosedItsSocket) {
  ExpectInProgramOfItsOwn([] {
    Fixture f;
    if (!f.server.problem().ok()) return false;
    f.WaitUntilItListens();
    CloseAllFromThree();
    // The server may still wait on the closed socket; that wakes it.
    const int lost = Connect(f.path);
    if (lost >= 0) close(lost);
    for (int tries = 0; tries < 1000; ++tries) {
      const int fd = Connect(f.path);
      if (fd >= 0) {
        close(fd);
        if (Ask(f.path, "status\n") == ".half way\n=first\n=second\n0\n") return true;
      }
      absl::SleepFor(absl::Milliseconds(10));
    }
    return false;
  });
}

// So that no thread's stack has room.
void TakeTheAddressSpaceAway() {
  uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  constexpr rlim_t kFew = 2 << 20;
  const rlim_t most = pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + kFew;
  const rlimit limit = {most, most};
  setrlimit(RLIMIT_AS, &limit);
}

TEST(ServerTest, AMissingThreadDoesNotEndTheProgram) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers need address space without limit";
#endif
  ExpectInProgramOfItsOwn([] {
    const std::string folder = NewFolder() + "/own";
    auto& commands = *new FakeCommands;
    TakeTheAddressSpaceAway();
    const Server& server = Server::Start(commands, folder, folder + "/42");
    const Server& deaf = Server::StartWithoutSocket(commands);
    return absl::IsResourceExhausted(server.problem()) &&
           absl::IsResourceExhausted(deaf.problem()) && Connect(folder + "/42") < 0;
  });
}

TEST(ServerTest, AnswersWhenNoDescriptorIsLeft) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "UBSan checks addresses with its own pipe";
#endif
  ExpectInProgramOfItsOwn([] {
    const rlimit few = {100, 100};
    setrlimit(RLIMIT_NOFILE, &few);
    Fixture f;
    int asking[2], answered[2];
    if (pipe(asking) != 0 || pipe(answered) != 0) return false;
    // A separate process sends the request: this one has no descriptor for it.
    if (fork() == 0) {
      char go;
      if (read(asking[0], &go, 1) != 1) _exit(1);
      const std::string answer = Ask(f.path, "status\n");
      _exit(write(answered[1], answer.data(), answer.size()) > 0 ? 0 : 1);
    }
    close(answered[1]);
    f.WaitUntilItListens();
    while (dup(0) >= 0) {
    }
    char answer[64] = {};
    if (write(asking[1], "x", 1) != 1) return false;
    return read(answered[0], answer, sizeof answer) > 0 &&
           std::string_view(answer) == ".half way\n=first\n=second\n0\n";
  });
}

}  // namespace
}  // namespace jtrace::control
