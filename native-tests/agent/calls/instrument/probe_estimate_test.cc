#include "agent/calls/instrument/probe_estimate.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace jtrace::calls {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> Patterns(const std::vector<ClassToProbe>& classes) {
  std::vector<std::string> patterns;
  for (const NarrowerScope& scope : NarrowerScopes(classes)) patterns.push_back(scope.pattern);
  return patterns;
}

TEST(ProbeEstimateTest, CostGrowsWithClassesAndMethods) {
  const absl::Duration one = EstimatedCost({1, 10});
  EXPECT_GT(one, absl::ZeroDuration());
  EXPECT_EQ(EstimatedCost({100, 1000}), 100 * one);
  EXPECT_GT(EstimatedCost({1, 20}), one);
  EXPECT_EQ(EstimatedCost({}), absl::ZeroDuration());
}

// What was seen replaces the constants.
TEST(ProbeEstimateTest, MeasuredCostIsInProportion) {
  EXPECT_EQ(ExtrapolatedCost({300, 3000}, {100, 1000}, absl::Seconds(2)), absl::Seconds(6));
  EXPECT_EQ(ExtrapolatedCost({0, 0}, {100, 1000}, absl::Seconds(2)), absl::ZeroDuration());
  EXPECT_EQ(ExtrapolatedCost({300, 3000}, {0, 0}, absl::ZeroDuration()),
            EstimatedCost({300, 3000}));
}

TEST(ProbeEstimateTest, ExpectsNothingFarFromTheEstimate) {
  const ProbeWork next = {10, 100};
  const ProbeWork done = {100, 1000};
  EXPECT_EQ(BoundedCost(next, {}, {}), EstimatedCost(next));
  EXPECT_EQ(BoundedCost(next, done, EstimatedCost(done) * 2), EstimatedCost(next) * 2);
  EXPECT_EQ(BoundedCost(next, done, EstimatedCost(done) * 50), EstimatedCost(next) * 4);
  EXPECT_EQ(BoundedCost(next, done, EstimatedCost(done) / 50), EstimatedCost(next) / 4);
}

TEST(ProbeEstimateTest, ABatchIsTheBudgetOfFiveSeconds) {
  EXPECT_EQ(CostOfABatch(1), absl::Milliseconds(50));
  EXPECT_EQ(CostOfABatch(20), absl::Seconds(1));
  EXPECT_EQ(CostOfABatch(100), absl::Seconds(1));
}

TEST(ProbeEstimateTest, SumsClasses) {
  const ProbeWork all = AllOf(std::vector<ClassToProbe>{{"a.A", 3}, {"a.B", 4}});
  EXPECT_EQ(all.classes, 2u);
  EXPECT_EQ(all.methods, 7u);
}

TEST(NarrowerScopesTest, DivideWhereThePackagesPart) {
  std::vector<ClassToProbe> classes = {{"org.acme.web.A", 500}, {"org.acme.web.x.B", 100},
                                       {"org.acme.db.C", 300},  {"org.acme.D", 20},
                                       {"com.other.E", 10},     {"org.acme.log.F", 30},
                                       {"org.acme.xml.G", 40}};
  EXPECT_THAT(Patterns(classes),
              ElementsAre("org.acme.web.**", "org.acme.db.**", "org.acme.xml.**"));
  const std::vector<NarrowerScope> scopes = NarrowerScopes(classes);
  EXPECT_EQ(scopes[0].work.classes, 2u);
  EXPECT_EQ(scopes[0].work.methods, 600u);
}

TEST(NarrowerScopesTest, NoneWhereOnePackageHasAll) {
  EXPECT_THAT(Patterns({}), IsEmpty());
  EXPECT_THAT(Patterns({{"Main", 5}, {"Other", 7}}), IsEmpty());
  EXPECT_THAT(Patterns({{"a.b.C", 5}, {"a.b.D", 500}}), IsEmpty());
}

TEST(NarrowerScopesTest, TwoApplications) {
  EXPECT_THAT(Patterns({{"com.acme.A", 30}, {"org.h2.B", 50}, {"Main", 1}}),
              ElementsAre("org.**", "com.**"));
}

TEST(ProbeEstimateTest, RoughSecondsHaveTwoDigits) {
  EXPECT_EQ(RoughSeconds(absl::Milliseconds(312)), "0.3 s");
  EXPECT_EQ(RoughSeconds(absl::Milliseconds(12'345)), "12 s");
  EXPECT_EQ(RoughSeconds(absl::Milliseconds(3)), "0.1 s");
  EXPECT_EQ(RoughSeconds(absl::ZeroDuration()), "0 s");
}

}  // namespace
}  // namespace jtrace::calls
