// Which files of a folder are traces that nobody writes any more.
#include "postproc/ship/sealed_traces.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/file.h>
#include <unistd.h>

#include "absl/time/clock.h"
#include "native-tests/postproc/ship/trace_folder.h"

namespace jtrace::ship {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::TraceFolder;

constexpr absl::Duration kSettled = absl::Seconds(1);

std::vector<std::string> NamesOf(const FolderContents& found) {
  std::vector<std::string> names;
  for (const SealedTrace& trace : found.sealed) names.push_back(trace.name);
  return names;
}

TEST(SealedTracesTest, TheOldestFirstAndOnlyTraces) {
  const TraceFolder folder("sealed");
  const absl::Time now = absl::Now();
  folder.WriteTrace("b.bin", now - absl::Minutes(2));
  folder.WriteTrace("c.bin", now - absl::Minutes(1));
  folder.WriteTrace("a.bin", now - absl::Minutes(1));
  folder.WriteTrace("d.bin.part", now - absl::Minutes(9));
  folder.WriteTrace(".hidden", now - absl::Minutes(9));
  folder.Write("notes.txt", "no trace at all", now - absl::Minutes(9));
  folder.Write("empty.bin", "", now - absl::Minutes(9));
  std::filesystem::create_directory(folder.File("failed"));
  const auto found = FindTraces(folder.path(), now, kSettled);
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_THAT(NamesOf(*found), ElementsAre("b.bin", "a.bin", "c.bin"));
  EXPECT_EQ(found->recording, 0U);
  EXPECT_EQ(found->sealed.front().size, 100U);
}

TEST(SealedTracesTest, ATraceThatAnAgentHasLockedIsStillWritten) {
  const TraceFolder folder("locked");
  const absl::Time now = absl::Now();
  folder.WriteTrace("a.bin", now - absl::Minutes(1));
  const int fd = open(folder.File("a.bin").c_str(), O_WRONLY);
  ASSERT_EQ(flock(fd, LOCK_EX | LOCK_NB), 0);
  const auto locked = FindTraces(folder.path(), now, kSettled);
  EXPECT_THAT(locked->sealed, IsEmpty());
  EXPECT_EQ(locked->recording, 1U);
  close(fd);  // as a JVM that is killed does
  EXPECT_THAT(NamesOf(*FindTraces(folder.path(), now, kSettled)), ElementsAre("a.bin"));
}

TEST(SealedTracesTest, ACopyMustSettle) {
  const TraceFolder folder("young");
  const absl::Time now = absl::Now();
  folder.WriteTrace("a.bin", now - absl::Milliseconds(500));
  EXPECT_THAT(FindTraces(folder.path(), now, kSettled)->sealed, IsEmpty());
  EXPECT_THAT(NamesOf(*FindTraces(folder.path(), now + absl::Seconds(1), kSettled)),
              ElementsAre("a.bin"));
  // A clock that was set back by an hour.
  EXPECT_THAT(NamesOf(*FindTraces(folder.path(), now - absl::Hours(1), kSettled)),
              ElementsAre("a.bin"));
}

TEST(SealedTracesTest, AMissingFolderIsNamed) {
  const auto found = FindTraces("/nowhere", absl::Now(), kSettled);
  EXPECT_EQ(found.status().message(), "cannot read the folder /nowhere: No such file or directory");
}

TEST(TraceLockTest, KeepsAgentsAndOtherShippersAway) {
  const TraceFolder folder("lock");
  const absl::Time now = absl::Now();
  folder.WriteTrace("a.bin", now - absl::Minutes(1));
  const SealedTrace trace = FindTraces(folder.path(), now, kSettled)->sealed.at(0);
  {
    const std::unique_ptr<TraceLock> lock = TraceLock::Take(trace);
    ASSERT_NE(lock, nullptr);
    EXPECT_EQ(TraceLock::Take(trace), nullptr);
  }
  EXPECT_NE(TraceLock::Take(trace), nullptr);
  // Another recording under that name, since it was found.
  folder.WriteTrace("a.bin", now);
  EXPECT_EQ(TraceLock::Take(trace), nullptr);
}

}  // namespace
}  // namespace jtrace::ship
