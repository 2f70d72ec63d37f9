#include "agent/name_filter.h"

#include "gtest/gtest.h"

namespace jtrace {
namespace {

TEST(NameFilterTest, WantsEverythingWithoutPatterns) { EXPECT_TRUE(NameFilter().Wants("main")); }

TEST(NameFilterTest, TakesStarsAndQuestionMarks) {
  const NameFilter filter({"main", "pool-*-thread-?", "*Thread*"});
  EXPECT_TRUE(filter.Wants("main"));
  EXPECT_FALSE(filter.Wants("main2"));
  EXPECT_FALSE(filter.Wants("mai"));
  EXPECT_TRUE(filter.Wants("pool-12-thread-3"));
  EXPECT_FALSE(filter.Wants("pool-12-thread-33"));
  EXPECT_TRUE(filter.Wants("C2 CompilerThread0"));
  EXPECT_FALSE(filter.Wants(""));
}

}  // namespace
}  // namespace jtrace
