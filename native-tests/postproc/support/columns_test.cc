// Columns of numbers by item: known answers, and random ones beside a map.
#include "postproc/support/columns.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <map>
#include <optional>

#include "native-tests/support/random.h"
#include "postproc/reader/agent_trees.h"

namespace jtrace {
namespace {

using postproc::NarrowColumn;
using postproc::NumberIndex;
using postproc::PrefixColumn;
using testing::Random;

constexpr int64_t kLimits[] = {0,
                               1,
                               -1,
                               int64_t{std::numeric_limits<uint32_t>::max()} - 2,
                               int64_t{std::numeric_limits<uint32_t>::max()} - 1,
                               int64_t{std::numeric_limits<uint32_t>::max()},
                               int64_t{1} << 32,
                               std::numeric_limits<int64_t>::min(),
                               std::numeric_limits<int64_t>::max()};

TEST(NarrowColumnTest, KeepsEachNumberAndWhatIsAbsent) {
  for (const int64_t first : kLimits) {
    for (const int64_t second : kLimits) {
      NarrowColumn column;
      column.Set(3, first);
      column.Set(3, second);
      EXPECT_EQ(column[3], second);
      EXPECT_EQ(column.Find(3), std::optional(second));
      EXPECT_EQ(column[2], 0);
      EXPECT_EQ(column.Find(2), std::nullopt);
      EXPECT_EQ(column[4], 0);
      EXPECT_EQ(column.Find(4), std::nullopt);
      EXPECT_EQ(column.size(), 4u);
    }
  }
}

TEST(NarrowColumnTest, AddsModuloTwoToThe64) {
  for (const int64_t first : kLimits) {
    for (const int64_t second : kLimits) {
      NarrowColumn column;
      column.Add(3, first);
      column.Add(3, second);
      EXPECT_EQ(column[3],
                static_cast<int64_t>(static_cast<uint64_t>(first) + static_cast<uint64_t>(second)));
    }
  }
}

TEST(NarrowColumnTest, IsAMap) {
  Random random(1);
  NarrowColumn column;
  std::map<size_t, int64_t> known;
  for (int i = 0; i < 20'000; ++i) {
    const size_t item = random.Below(500);
    const auto value = static_cast<int64_t>(random.Below(UINT64_MAX) >> random.Below(64));
    column.Set(item, value);
    known[item] = value;
    const size_t other = random.Below(600);
    const auto found = known.find(other);
    ASSERT_EQ(column.Find(other),
              found == known.end() ? std::nullopt : std::optional(found->second));
  }
}

TEST(PrefixColumnTest, HasNothingBehindItsLastValue) {
  PrefixColumn<int64_t> column;
  EXPECT_EQ(column[7], 0);
  column.At(2) = 5;
  EXPECT_EQ(column[1], 0);
  EXPECT_EQ(column[2], 5);
  EXPECT_EQ(column[3], 0);
  EXPECT_EQ(column.size(), 3u);
}

// Numbers of blocks, in any order, and far ones.
TEST(NumberIndexTest, IsAMap) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    Random random(seed);
    NumberIndex index;
    std::map<uint32_t, uint32_t> known;
    for (int i = 0; i < 3'000; ++i) {
      const uint64_t below[] = {2'000, 100'000, UINT32_MAX};
      const auto number = static_cast<uint32_t>(random.Below(below[random.Below(3)]));
      const auto found = known.find(number);
      ASSERT_EQ(index.Find(number), found == known.end() ? NumberIndex::kNone : found->second);
      if (found != known.end()) continue;
      const auto next = static_cast<uint32_t>(known.size());
      index.Add(number, next);
      known[number] = next;
    }
    for (const auto& [number, at] : known) ASSERT_EQ(index.Find(number), at);
  }
}

// A number costs no array up to it.
TEST(NumberIndexTest, FarNumbersAreFew) {
  NumberIndex index;
  index.Add(UINT32_MAX, 0);
  index.Add(7, 1);
  EXPECT_EQ(index.Find(UINT32_MAX), 0u);
  EXPECT_EQ(index.Find(7), 1u);
  EXPECT_EQ(index.Find(UINT32_MAX - 1), NumberIndex::kNone);
}

}  // namespace
}  // namespace jtrace
