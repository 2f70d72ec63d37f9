#include "agent/waits/unpark_table.h"

#include <optional>

#include "gtest/gtest.h"

namespace jtrace::waits {
namespace {

Unpark By(uint32_t thread) { return {.by = {.thread = thread}}; }

TEST(UnparkTableTest, TheFirstUnparkSinceTheLastParkCounts) {
  UnparkTable table;
  table.Note(7, By(1));
  table.Note(7, By(2));
  ASSERT_TRUE(table.Take(7).has_value());
  EXPECT_FALSE(table.Take(7).has_value()) << "one permit";
  table.Note(7, By(3));
  const std::optional<Unpark> unpark = table.Take(7);
  ASSERT_TRUE(unpark.has_value());
  EXPECT_EQ(unpark->by.thread, 3u);
}

TEST(UnparkTableTest, ThreadsAreDistinguished) {
  UnparkTable table;
  // In one part.
  table.Note(7, By(1));
  table.Note(7 + UnparkTable::kParts, By(2));
  EXPECT_EQ(table.Take(7 + UnparkTable::kParts)->by.thread, 2u);
  EXPECT_EQ(table.Take(7)->by.thread, 1u);
  EXPECT_FALSE(table.Take(8).has_value());
}

TEST(UnparkTableTest, ThreadsThatNeverParkAgainTakeLittleMemory) {
  UnparkTable table;
  for (uint64_t i = 0; i <= UnparkTable::kMostInPart; ++i) {
    table.Note(i * UnparkTable::kParts, By(1));
  }
  EXPECT_FALSE(table.Take(0).has_value()) << "forgotten, not guessed";
  EXPECT_TRUE(table.Take(UnparkTable::kMostInPart * UnparkTable::kParts).has_value());
  table.Note(3, By(1));
  table.Clear();
  EXPECT_FALSE(table.Take(3).has_value());
}

}  // namespace
}  // namespace jtrace::waits
