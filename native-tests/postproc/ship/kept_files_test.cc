// Bounds of what the shipper's folders keep.
#include "postproc/ship/kept_files.h"

#include <gtest/gtest.h>

#include "absl/time/clock.h"
#include "native-tests/postproc/ship/trace_folder.h"

namespace jtrace::ship {
namespace {

using testing::TraceFolder;

TEST(ParseTimeTest, TakesOneNumberWithAUnit) {
  EXPECT_EQ(ParseTime("30s"), absl::Seconds(30));
  EXPECT_EQ(ParseTime("200ms"), absl::Milliseconds(200));
  EXPECT_EQ(ParseTime("5m"), absl::Minutes(5));
  EXPECT_EQ(ParseTime("12h"), absl::Hours(12));
  EXPECT_EQ(ParseTime("7d"), absl::Hours(7 * 24));
  for (const char* wrong : {"", "5", "s", "-1s", "1h30m", "1.5h", "9999999999d", "1GB"}) {
    EXPECT_EQ(ParseTime(wrong), std::nullopt) << wrong;
  }
}

TEST(SetKeepTest, TimeAndSizeAreTwoBounds) {
  Keep keep;
  ASSERT_TRUE(SetKeep("--retain", "2d", keep).ok());
  ASSERT_TRUE(SetKeep("--retain", "500MB", keep).ok());
  EXPECT_EQ(keep.longest, absl::Hours(48));
  EXPECT_EQ(keep.most_bytes, uint64_t{500} << 20);
  EXPECT_FALSE(keep.keeps_none());
  ASSERT_TRUE(SetKeep("--retain", "0", keep).ok());
  EXPECT_TRUE(keep.keeps_none());
  EXPECT_EQ(SetKeep("--retain", "much", keep).message(),
            "--retain: 'much' is not a time or size, such as 1d, 12h, 500MB, 1GB, or 0");
}

OwnFolder Kept(const TraceFolder& folder) { return *OwnFolder::Make(folder.path(), "kept"); }

TEST(RemoveOldTracesTest, WhatWasMovedLastStays) {
  const TraceFolder folder("kept");
  const OwnFolder kept = Kept(folder);
  const absl::Time now = absl::Now();
  for (int age = 5; age >= 1; --age) {
    folder.WriteTrace("kept/" + std::to_string(age), now - absl::Hours(age), 100);
  }
  folder.Write("kept/3.reason", "bad", now);
  // It is the time of the move that counts, not that of the trace.
  EXPECT_EQ(RemoveOldTraces(kept, {.longest = absl::Hours(2), .most_bytes = 1'000}, now), 0U);
  EXPECT_EQ(RemoveOldTraces(kept, {.longest = absl::Hours(2), .most_bytes = 200}, now), 3U);
  EXPECT_TRUE(folder.Has("kept/2"));
  EXPECT_FALSE(folder.Has("kept/3"));
  EXPECT_FALSE(folder.Has("kept/3.reason"));
  RemoveOldTraces(kept, {.longest = absl::Hours(2), .most_bytes = 200}, now + absl::Hours(3));
  EXPECT_FALSE(folder.Has("kept/1"));
}

TEST(RemoveOldTracesTest, FilesOfOthersStay) {
  const TraceFolder folder("kept2");
  const OwnFolder kept = Kept(folder);
  const absl::Time now = absl::Now();
  folder.Write("kept/precious.txt", "not a trace", now);
  folder.Write("kept/precious.reason", "nor this", now);
  folder.WriteTrace("elsewhere.bin", now);
  std::filesystem::create_symlink(folder.File("elsewhere.bin"), folder.File("kept/link.bin"));
  RemoveOldTraces(kept, {.longest = absl::ZeroDuration(), .most_bytes = 0}, now + absl::Hours(9));
  EXPECT_TRUE(folder.Has("kept/precious.txt"));
  EXPECT_TRUE(folder.Has("kept/precious.reason"));
  EXPECT_TRUE(folder.Has("kept/link.bin"));
}

TEST(CountToDropTest, NoMoreThanNeeded) {
  std::vector<SealedTrace> waiting(4);
  for (SealedTrace& trace : waiting) trace.size = 100;
  EXPECT_EQ(CountToDrop(waiting, 400), 0U);
  EXPECT_EQ(CountToDrop(waiting, 399), 1U);
  EXPECT_EQ(CountToDrop(waiting, 200), 2U);
  EXPECT_EQ(CountToDrop(waiting, 0), 4U);
}

}  // namespace
}  // namespace jtrace::ship
