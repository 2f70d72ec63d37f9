// Conversions write side by side; a merge of their place waits for them, and they for it.
#include "postproc/fleet/place_lock.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

namespace jtrace::postproc::fleet {
namespace {

namespace fs = std::filesystem;

constexpr absl::Duration kAtOnce = absl::ZeroDuration();
constexpr char kPlace[] = "service=a/day=2025-11-26/host=h";

class PlaceLockTest : public ::testing::Test {
 protected:
  PlaceLockTest() { fs::remove_all(data_); }

  const fs::path data_ = fs::path(::testing::TempDir()) / "place_lock";
};

TEST_F(PlaceLockTest, NothingIsMergedWhileAnybodyWrites) {
  std::optional<PlaceLock> one = PlaceLock::ToWrite(data_, kPlace);
  std::optional<PlaceLock> other = PlaceLock::ToWrite(data_, kPlace);
  EXPECT_FALSE(PlaceLock::ToMerge(data_, kPlace, kAtOnce).has_value());
  one.reset();
  EXPECT_FALSE(PlaceLock::ToMerge(data_, kPlace, absl::Milliseconds(100)).has_value());
  other.reset();
  const auto merges = PlaceLock::ToMerge(data_, kPlace, kAtOnce);
  ASSERT_TRUE(merges.has_value());
  EXPECT_FALSE(PlaceLock::ToMerge(data_, kPlace, kAtOnce).has_value());
}

TEST_F(PlaceLockTest, OtherPlacesGoOn) {
  const PlaceLock one = PlaceLock::ToWrite(data_, kPlace);
  EXPECT_TRUE(PlaceLock::ToMerge(data_, "service=a/day=2025-11-27/host=h", kAtOnce).has_value());
}

TEST_F(PlaceLockTest, EnginesSkipItsFile) {
  const PlaceLock lock = PlaceLock::ToWrite(data_, kPlace);
  for (const auto& entry : fs::directory_iterator(data_)) {
    EXPECT_EQ(entry.path().filename(), "_compact");
  }
}

// As before there were locks.
TEST_F(PlaceLockTest, WhereThereCanBeNoFileBothGoOn) {
  std::ofstream(data_) << "not a folder";
  const PlaceLock one = PlaceLock::ToWrite(data_, kPlace);
  EXPECT_TRUE(PlaceLock::ToMerge(data_, kPlace, kAtOnce).has_value());
}

}  // namespace
}  // namespace jtrace::postproc::fleet
