#include "agent/options/call_costs.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace jtrace {
namespace {

using proto::Routine;
using ::testing::HasSubstr;
using ::testing::Optional;

TEST(CallCostsTest, TheListKnowsTheFourGroups) {
  const CallCosts& costs = CallCosts::Default();
  EXPECT_THAT(costs.Of("java.lang.Math.max"), Optional(Routine::FIXED));
  EXPECT_THAT(costs.Of("java.util.HashMap.put"), Optional(Routine::VARIABLE));
  EXPECT_THAT(costs.Of("java.lang.Thread.sleep"), Optional(Routine::INDETERMINATE));
  EXPECT_THAT(costs.Of("java.net.Socket.connect"), Optional(Routine::INDETERMINATE));
  EXPECT_THAT(costs.Of("java.io.Console.readLine"), Optional(Routine::USER_INPUT));
  EXPECT_THAT(costs.Of("com.acme.Foo.bar"), Optional(Routine::UNCLASSIFIED));
}

TEST(CallCostsTest, LaterRulesOverrideEarlierOnes) {
  const CallCosts& costs = CallCosts::Default();
  EXPECT_THAT(costs.Of("java.util.concurrent.ArrayBlockingQueue.put"),
              Optional(Routine::INDETERMINATE));
  EXPECT_THAT(costs.Of("java.util.concurrent.ConcurrentHashMap.put"), Optional(Routine::VARIABLE));
  EXPECT_THAT(costs.Of("java.util.concurrent.atomic.AtomicLong.get"), Optional(Routine::FIXED));
}

TEST(CallCostsTest, RulesCanBeAdded) {
  const auto costs =
      CallCosts::WithRules("# mine\n\n  user-input  com.acme.Ui.ask*\nnone *.toString\n");
  ASSERT_TRUE(costs.ok()) << costs.status();
  EXPECT_THAT(costs->Of("com.acme.Ui.askAgain"), Optional(Routine::USER_INPUT));
  EXPECT_EQ(costs->Of("java.lang.Object.toString"), std::nullopt);
  EXPECT_THAT(costs->Of("java.lang.Math.max"), Optional(Routine::FIXED));
}

TEST(CallCostsTest, StarsMatchAnyCharacters) {
  const auto costs = CallCosts::WithRules("fixed a*b*c\nuser-input *\nfixed a*b*c\n");
  ASSERT_TRUE(costs.ok());
  for (const char* yes : {"abc", "axbxc", "abbc", "a.b.c.b.c"}) {
    EXPECT_THAT(costs->Of(yes), Optional(Routine::FIXED)) << yes;
  }
  for (const char* no : {"ac", "abcd", "ab", "xabc", ""}) {
    EXPECT_THAT(costs->Of(no), Optional(Routine::USER_INPUT)) << no;
  }
}

TEST(CallCostsTest, BadRulesAreNamedByLine) {
  for (const char* text : {"fixed\n", "fast a.b\n", "fixed a b\n"}) {
    EXPECT_THAT(CallCosts::WithRules(text).status().message(), HasSubstr("line 1 ")) << text;
  }
}

}  // namespace
}  // namespace jtrace
