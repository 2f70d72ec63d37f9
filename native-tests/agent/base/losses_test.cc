#include "agent/base/losses.h"

#include <string>

#include "gtest/gtest.h"

namespace jtrace {
namespace {

TEST(LossesTest, NamesTheFirstFew) {
  Losses losses;
  losses.AddNamed("class.x", Severity::kWarning, "a.A", "classes without", "do so");
  EXPECT_EQ(losses.Snapshot()[0].what, "classes without: a.A");
  losses.AddNamed("class.x", Severity::kWarning, "a.B", "ignored");
  losses.AddNamed("class.x", Severity::kWarning, "a.C", "ignored");
  EXPECT_EQ(losses.Snapshot()[0].what, "classes without: a.A, a.B, a.C");
  losses.AddNamed("class.x", Severity::kWarning, "a.D", "ignored");
  const LossRow row = losses.Snapshot()[0];
  EXPECT_EQ(row.what, "classes without: a.A, a.B, a.C, …");
  EXPECT_EQ(row.advice, "do so");
  EXPECT_EQ(row.count, 4u);
}

TEST(LossesTest, NamesEachOnceAndCutsLongOnes) {
  Losses losses;
  for (int i = 0; i < 3; ++i) losses.AddNamed("x", Severity::kInfo, "a.A", "classes");
  EXPECT_EQ(losses.Snapshot()[0].what, "classes: a.A, …");
  losses.AddNamed("long", Severity::kInfo, std::string(70'000, 'x'), "classes");
  EXPECT_LT(losses.Snapshot()[0].what.size(), 300u);
}

TEST(LossesTest, RowsWithoutNamesStayAsTheyAre) {
  Losses losses;
  losses.Add("a", Severity::kError, 2, "things");
  losses.Set("b", Severity::kInfo, 0, "none of these");
  ASSERT_EQ(losses.Snapshot().size(), 1u);
  EXPECT_EQ(losses.Snapshot()[0].what, "things");
  losses.Clear();
  EXPECT_TRUE(losses.Snapshot().empty());
}

}  // namespace
}  // namespace jtrace
