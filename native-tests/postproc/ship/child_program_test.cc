// Programs that the shipper runs, and what their ends mean for a trace.
#include "postproc/ship/child_program.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "absl/time/clock.h"
#include "native-tests/postproc/ship/trace_folder.h"
#include "postproc/ship/converter.h"

namespace jtrace::ship {
namespace {

using Outcome = Delivery::Outcome;
using ::testing::HasSubstr;
using testing::TraceFolder;

constexpr absl::Duration kLong = absl::Minutes(1);

absl::StatusOr<ChildEnd> Shell(const std::string& script, absl::Duration longest = kLong) {
  StopSignal stop;
  return RunChild({"/bin/sh", "-c", script}, longest, stop);
}

TEST(ChildProgramTest, ItsOutputAndExitCodeArrive) {
  const auto end = Shell("echo one; echo two >&2; exit 7");
  ASSERT_TRUE(end.ok()) << end.status();
  EXPECT_EQ(end->exit_code, 7);
  EXPECT_EQ(end->output, "one\ntwo\n");
  EXPECT_EQ(Shell("kill -9 $$")->exit_code, 128 + 9);
  StopSignal stop;
  EXPECT_EQ(RunChild({"/nowhere"}, kLong, stop)->exit_code, 127);
}

TEST(ChildProgramTest, MuchOutputNeitherBlocksItNorIsKept) {
  const auto end = Shell(
      "i=0; while [ $i -lt 4000 ]; do echo a line of thirty characters or so;"
      " i=$((i+1)); done; echo the error");
  ASSERT_TRUE(end.ok()) << end.status();
  EXPECT_EQ(end->exit_code, 0);
  EXPECT_EQ(end->output.size(), 65536U);
  EXPECT_TRUE(end->output.ends_with("\nthe error\n"));
}

TEST(ChildProgramTest, OneThatTakesTooLongIsKilled) {
  EXPECT_TRUE(absl::IsDeadlineExceeded(Shell("exec sleep 1000", absl::Milliseconds(50)).status()));
}

TEST(ChildProgramTest, AStopEndsIt) {
  StopSignal stop;
  raise(SIGTERM);
  const auto end = RunChild({"/bin/sh", "-c", "exec sleep 1000"}, kLong, stop);
  EXPECT_TRUE(absl::IsCancelled(end.status()));
  EXPECT_TRUE(stop.requested());
}

TEST(ChildProgramTest, ChildrenAreWaitedForIfTheirSignalWasIgnored) {
  signal(SIGCHLD, SIG_IGN);
  const auto end = Shell("exit 3");
  signal(SIGCHLD, SIG_DFL);
  ASSERT_TRUE(end.ok()) << end.status();
  EXPECT_EQ(end->exit_code, 3);
}

TEST(ChildProgramTest, ItsFilesMayBePrivate) {
  const TraceFolder folder("private");
  StopSignal stop;
  const std::string script = "echo x > " + folder.File("file");
  ASSERT_TRUE(RunChild({"/bin/sh", "-c", script}, kLong, stop, /*is_private=*/true).ok());
  struct stat info;
  ASSERT_EQ(stat(folder.File("file").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600U);
}

TEST(ChildProgramTest, SignalsOfTheShipperAreNotBlockedInIt) {
  const auto end = Shell("kill -15 $$; exit 3");
  ASSERT_TRUE(end.ok()) << end.status();
  EXPECT_EQ(end->exit_code, 128 + SIGTERM);
}

// A jtrace-post that does what a script says.
Delivery Convert(const std::string& script) {
  const TraceFolder folder("converter");
  folder.Write("post", "#!/bin/sh\n" + script + "\n", absl::Now());
  chmod(folder.File("post").c_str(), 0700);
  StopSignal stop;
  const Converter converter = {.post_processor = folder.File("post"), .labels = {"service=shop"}};
  return converter.Convert({.name = "t.bin", .path = "/x/t.bin"}, "otlp", {"--aggregate=group"},
                           "/out", stop);
}

TEST(ConverterTest, PassesEverythingOn) {
  const Delivery delivery = Convert("echo \"$*\"; exit 2");
  EXPECT_EQ(delivery.message,
            "--report=otlp --jobs=1 --aggregate=group --label=service=shop -o /out -- /x/t.bin");
  EXPECT_EQ(Convert("exit 0").outcome, Outcome::kDelivered);
}

TEST(ConverterTest, OnlyWhatIsWrongWithTheTraceIsRefused) {
  const Delivery bad = Convert("echo a warning; echo 'jtrace-post: not a trace'; exit 2");
  EXPECT_EQ(bad.outcome, Outcome::kRefused);
  EXPECT_EQ(bad.message, "jtrace-post: not a trace");
  const Delivery crash = Convert("kill -11 $$");
  EXPECT_EQ(crash.outcome, Outcome::kRefused);
  EXPECT_THAT(crash.message, HasSubstr("signal 11"));
  // Words of a trace's name decide nothing.
  for (const char* text : {"cannot write of me: not a trace", "out of memory.bin: not a trace"}) {
    EXPECT_EQ(Convert(std::string("echo 'jtrace-post: ") + text + "'; exit 2").outcome,
              Outcome::kRefused);
  }
  for (const char* script : {"echo 'jtrace-post: cannot write /out'; exit 4",
                             "echo wrong label; exit 1", "exit 127", "kill -15 $$"}) {
    const Delivery later = Convert(script);
    EXPECT_EQ(later.outcome, Outcome::kLater) << script;
    EXPECT_FALSE(later.is_broken) << script;
  }
  for (const char* script : {"kill -9 $$", "echo 'jtrace-post: out of memory'; exit 5"}) {
    const Delivery later = Convert(script);
    EXPECT_EQ(later.outcome, Outcome::kLater) << script;
    EXPECT_TRUE(later.is_broken) << script;
  }
}

}  // namespace
}  // namespace jtrace::ship
