#include "agent/base/thread_name_filter.h"

#include "common/glob.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace jtrace {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ThreadNameFilterTest, WantsEverythingWithoutPatterns) {
  EXPECT_TRUE(ThreadNameFilter().Wants("main"));
}

TEST(ThreadNameFilterTest, MatchesStarsAndQuestionMarks) {
  const ThreadNameFilter filter({"main", "pool-*-thread-?", "*Thread*"});
  EXPECT_TRUE(filter.Wants("main"));
  EXPECT_FALSE(filter.Wants("main2"));
  EXPECT_FALSE(filter.Wants("mai"));
  EXPECT_TRUE(filter.Wants("pool-12-thread-3"));
  EXPECT_FALSE(filter.Wants("pool-12-thread-33"));
  EXPECT_TRUE(filter.Wants("C2 CompilerThread0"));
  EXPECT_FALSE(filter.Wants(""));
}

TEST(ThreadNameFilterTest, ReportsUnmatchedPatternsAndTheNearestNames) {
  const ThreadNameFilter filter({"main", "worker_*", "["});
  for (const char* name : {"Finalizer", "main", "worker-12", "worker-1", "main"})
    filter.Wants(name);
  EXPECT_THAT(filter.Unmatched(), ElementsAre("worker_*", "["));
  EXPECT_THAT(filter.NearestTo("worker_*", 2), ElementsAre("worker-1", "worker-12"));
  EXPECT_EQ(filter.NearestTo("worker_*", 9).size(), 4u);
  EXPECT_THAT(ThreadNameFilter().Unmatched(), IsEmpty());
}

TEST(GlobTest, StarsAndQuestionMarksAloneStandForOthers) {
  EXPECT_TRUE(GlobMatches("*f[abi:cxx11](*)", "a::f[abi:cxx11](int)"));
  EXPECT_FALSE(GlobMatches("f[abc]*", "fa"));
  EXPECT_TRUE(GlobMatches("f\\?", "f\\x"));
  EXPECT_TRUE(GlobMatches("*ab*b?", "aabbabbc"));
  EXPECT_FALSE(GlobMatches("*ab*b?", "aabbabcc"));
  EXPECT_TRUE(GlobMatches("**", ""));
  EXPECT_FALSE(GlobMatches("?", ""));
  EXPECT_FALSE(GlobMatches("", "a"));
}

}  // namespace
}  // namespace jtrace
