#include "postproc/model/trace_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace jtrace::postproc {
namespace {

using ::testing::ElementsAre;

// A text trace names its hooks in comment lines, with patterns, and in every row of their calls.
TEST(TraceInfoTest, HooksAreListedOnceInTheOrderOfTheirFirstMention) {
  constexpr FrameId kMalloc{1};
  constexpr FrameId kFree{2};
  TraceInfo trace;
  trace.AddHook({kMalloc, HookKind::kCount, "libc.so.6!mal*"});
  trace.AddHook({kFree, HookKind::kCount, ""});
  for (int i = 0; i < 3; ++i) {
    trace.AddHook({kMalloc, HookKind::kCount, ""});
    trace.AddHook({kFree, HookKind::kCount, ""});
    trace.AddHook({kMalloc, HookKind::kTime, ""});
  }
  trace.AddHook({kMalloc, HookKind::kCount, "libc.so.6!mal*"});
  trace.AddHook({kMalloc, HookKind::kCount, "libc.so.6!malloc"});
  trace.AddHook({kFree, HookKind::kCount, "libc.so.6!free"});
  EXPECT_THAT(trace.hooks, ElementsAre(HookInfo{kMalloc, HookKind::kCount, "libc.so.6!mal*"},
                                       HookInfo{kFree, HookKind::kCount, ""},
                                       HookInfo{kMalloc, HookKind::kTime, ""},
                                       HookInfo{kMalloc, HookKind::kCount, "libc.so.6!malloc"},
                                       HookInfo{kFree, HookKind::kCount, "libc.so.6!free"}));
}

TEST(TraceInfoTest, TheReleaseOfTheJvmIsAtTheEndOfItsName) {
  TraceInfo trace;
  EXPECT_EQ(trace.JavaRelease(), 0);
  trace.SetFact("jvm", "OpenJDK 64-Bit Server VM 17.0.13+11-Debian-2deb12u1");
  EXPECT_EQ(trace.JavaRelease(), 17);
  trace.SetFact("jvm", "OpenJDK 64-Bit Server VM 25-ea");
  EXPECT_EQ(trace.JavaRelease(), 25);
  trace.SetFact("jvm", "OpenJDK 64-Bit Server VM");
  EXPECT_EQ(trace.JavaRelease(), 0);
}

TEST(TraceInfoTest, TheLastValueOfANameCountsAtItsFirstPlace) {
  TraceInfo trace;
  for (const char* value : {"1", "2"}) {
    for (const char* key : {"b", "a"}) {
      trace.SetFact(key, value);
      trace.SetCount(key, value[0] - '0', "things");
      trace.SetLoss({key, Severity::kWarning, value[0] - '0', "things", ""});
    }
  }
  using Facts = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(trace.facts, (Facts{{"b", "2"}, {"a", "2"}}));
  EXPECT_EQ(trace.Fact("b"), "2");
  EXPECT_EQ(trace.Fact("c"), "");
  ASSERT_EQ(trace.counts.size(), 2u);
  EXPECT_EQ(trace.counts[0].key, "b");
  EXPECT_EQ(trace.counts[0].value, 2);
  ASSERT_EQ(trace.losses.size(), 2u);
  EXPECT_EQ(trace.losses[1].name, "a");
  EXPECT_EQ(trace.losses[1].count, 2);
}

}  // namespace
}  // namespace jtrace::postproc
