#include "agent/options/call_costs.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace jtrace {
namespace {

using proto::Routine;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::Optional;

// A cost of that group, whatever its cycles are.
auto Group(Routine::Cost group) { return Optional(Field(&CallCost::group, group)); }

TEST(CallCostsTest, TheListKnowsTheFourGroups) {
  const CallCosts& costs = CallCosts::Default();
  EXPECT_THAT(costs.Of("java.lang.Math.max"), Group(Routine::FIXED));
  EXPECT_THAT(costs.Of("java.util.HashMap.put"), Group(Routine::VARIABLE));
  EXPECT_THAT(costs.Of("java.lang.Thread.sleep"), Group(Routine::INDETERMINATE));
  EXPECT_THAT(costs.Of("java.net.Socket.connect"), Group(Routine::INDETERMINATE));
  EXPECT_THAT(costs.Of("java.io.Console.readLine"), Group(Routine::USER_INPUT));
  EXPECT_THAT(costs.Of("com.acme.Foo.bar"), Group(Routine::UNCLASSIFIED));
}

TEST(CallCostsTest, LaterRulesOverrideEarlierOnes) {
  const CallCosts& costs = CallCosts::Default();
  EXPECT_THAT(costs.Of("java.util.concurrent.ArrayBlockingQueue.put"),
              Group(Routine::INDETERMINATE));
  EXPECT_THAT(costs.Of("java.util.concurrent.ConcurrentHashMap.put"), Group(Routine::VARIABLE));
  EXPECT_THAT(costs.Of("java.util.concurrent.atomic.AtomicLong.get"), Group(Routine::FIXED));
}

TEST(CallCostsTest, RulesCanBeAdded) {
  const auto costs =
      CallCosts::WithRules("# mine\n\n  user-input  com.acme.Ui.ask*\nnone *.toString\n");
  ASSERT_TRUE(costs.ok()) << costs.status();
  EXPECT_THAT(costs->Of("com.acme.Ui.askAgain"), Group(Routine::USER_INPUT));
  EXPECT_EQ(costs->Of("java.lang.Object.toString"), std::nullopt);
  EXPECT_THAT(costs->Of("java.lang.Math.max"), Group(Routine::FIXED));
}

TEST(CallCostsTest, StarsMatchAnyCharacters) {
  const auto costs = CallCosts::WithRules("fixed a*b*c\nuser-input *\nfixed a*b*c\n");
  ASSERT_TRUE(costs.ok());
  for (const char* yes : {"abc", "axbxc", "abbc", "a.b.c.b.c"}) {
    EXPECT_THAT(costs->Of(yes), Group(Routine::FIXED)) << yes;
  }
  for (const char* no : {"ac", "abcd", "ab", "xabc", ""}) {
    EXPECT_THAT(costs->Of(no), Group(Routine::USER_INPUT)) << no;
  }
}

TEST(CallCostsTest, CallsHaveCycles) {
  const auto costs = CallCosts::WithRules(
      "fixed f\nfixed g 0\nvariable v\nvariable w 7\nvariable n 20+0.25n\nvariable l 3+12.5len\n");
  ASSERT_TRUE(costs.ok()) << costs.status();
  EXPECT_EQ(costs->Of("f"), (CallCost{Routine::FIXED, 10}));
  EXPECT_EQ(costs->Of("g"), (CallCost{Routine::FIXED, 0}));
  EXPECT_EQ(costs->Of("v"), (CallCost{Routine::VARIABLE, 100}));
  EXPECT_EQ(costs->Of("w"), (CallCost{Routine::VARIABLE, 7}));
  EXPECT_EQ(costs->Of("n"), (CallCost{Routine::VARIABLE, 20, 250, Elements::kNumber}));
  EXPECT_EQ(costs->Of("l"), (CallCost{Routine::VARIABLE, 3, 12500, Elements::kLength}));
  EXPECT_EQ(costs->Of("java.lang.Thread.sleep"), CallCost{Routine::INDETERMINATE});
  EXPECT_EQ(costs->Of("other"), CallCost());
}

TEST(CallCostsTest, GroupsAlone) {
  auto costs = CallCosts::WithRules("variable n 20+0.25n\nnone x\n");
  ASSERT_TRUE(costs.ok()) << costs.status();
  costs->KeepOnlyGroups();
  EXPECT_EQ(costs->Of("n"), CallCost{Routine::VARIABLE});
  EXPECT_EQ(costs->Of("java.lang.Thread.sleep"), CallCost{Routine::INDETERMINATE});
  EXPECT_EQ(costs->Of("x"), std::nullopt);
}

TEST(CallCostsTest, BadRulesAreNamedByLine) {
  for (const char* text :
       {"fixed\n", "fast a.b\n", "fixed a b\n", "fixed a 1+2n\n", "fixed a -1\n",
        "variable a 1.5\n", "variable a 1+2\n", "variable a 1+n\n", "variable a 1+2x\n",
        "variable a 2n\n", "variable a 1+-2n\n", "variable a 1+2000000n\n", "variable a 2000000\n",
        "none a 1\n", "indeterminate a 1\n", "user-input a 1\n", "variable a 1 2\n",
        "variable a 1+1e3n\n"}) {
    EXPECT_THAT(CallCosts::WithRules(text).status().message(), HasSubstr("line 1 ")) << text;
  }
}

}  // namespace
}  // namespace jtrace
