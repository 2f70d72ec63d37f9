// Who runs a method that does costly work: by how often each of its calls does, or where from.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "native-tests/postproc/findings/finding_trace.h"

namespace jtrace {
namespace {

using testing::FindingTrace;
using ::testing::HasSubstr;

constexpr char kCompile[] = "C:java.util.regex.Pattern.compile(String)";

// What is said of the only finding.
std::string Sentence(const FindingTrace& trace) {
  const auto found = trace.Of("costly-setup");
  EXPECT_EQ(found.size(), 1u);
  return found.empty() ? "" : found[0][2];
}

TEST(CallersTest, OneCallerHasAllCalls) {
  const FindingTrace::Path town = {"app.Main.run()", "app.Sales.byTown()", "app.Sales.town()"};
  FindingTrace trace;
  trace.Calls({"app.Main.run()"}, 1).Calls({"app.Main.run()", "app.Sales.byTown()"}, 1);
  trace.Calls(town, 1000).Ticks(town, {kCompile}, 100);
  EXPECT_THAT(Sentence(trace),
              HasSubstr("app.Sales.town() runs 1,000 times, all from app.Sales.byTown(); "));
}

TEST(CallersTest, OneCallerHasMostCalls) {
  const FindingTrace::Path town = {"app.Main.run()", "app.Sales.byTown()", "app.Sales.town()"};
  FindingTrace trace;
  trace.Calls({"app.Main.run()"}, 1).Calls({"app.Main.run()", "app.Sales.byTown()"}, 1);
  trace.Calls(town, 600).Ticks(town, {kCompile}, 100);
  trace.Calls({"app.Main.run()", "app.Sales.town()"}, 400);
  EXPECT_THAT(Sentence(trace),
              HasSubstr("app.Sales.town() runs 1,000 times, mostly from app.Sales.byTown(); "));
}

TEST(CallersTest, NoCallerHasHalfOfTheCalls) {
  FindingTrace trace;
  for (const std::string caller : {"app.A.a()", "app.B.b()", "app.C.c()"}) {
    trace.Calls({caller}, 1).Calls({caller, "app.Sales.town()"}, 1000);
    trace.Ticks({caller, "app.Sales.town()"}, {kCompile}, 100);
  }
  EXPECT_THAT(Sentence(trace), HasSubstr("app.Sales.town() runs 3,000 times; "));
}

// A recursive call does not count as a caller.
TEST(CallersTest, ARecursiveMethodHasItsFirstCaller) {
  const FindingTrace::Path town = {"app.Main.run()", "app.Sales.town()"};
  FindingTrace trace;
  trace.Calls({"app.Main.run()"}, 1).Calls(town, 500).Ticks(town, {kCompile}, 100);
  trace.Calls({"app.Main.run()", "app.Sales.town()", "app.Sales.town()"}, 400);
  EXPECT_THAT(Sentence(trace),
              HasSubstr("app.Sales.town() runs 900 times, mostly from app.Main.run(); "));
}

// Seventeen calls go through Site.call and one of them leads to byTown: "per call" is none of it.
TEST(CallersTest, NotPerCallOfACallerThatMostlyDoesOtherThings) {
  const FindingTrace::Path town = {"app.Main.run()", "app.Site.call()", "app.Sales.byTown()",
                                   "app.Sales.town()"};
  FindingTrace trace;
  trace.Calls({"app.Main.run()"}, 1).Calls({"app.Main.run()", "app.Site.call()"}, 17);
  trace.Calls({"app.Main.run()", "app.Site.call()", "app.Sales.byTown()"}, 1);
  trace.Calls(town, 1000).Ticks(town, {kCompile}, 100);
  EXPECT_THAT(Sentence(trace),
              HasSubstr("app.Sales.town() runs 1,000 times, all from app.Sales.byTown(); "));
}

// What passes calls on as often as it is called hides no caller.
TEST(CallersTest, PerCallThroughAMethodThatPassesEachCallOn) {
  const FindingTrace::Path town = {"app.Main.run()", "app.Shop.doGet()", "app.Sales.byTown()",
                                   "app.Site.call()", "app.Sales.town()"};
  FindingTrace trace;
  for (size_t size = 1; size <= 3; ++size) {
    trace.Calls({town.begin(), town.begin() + static_cast<int>(size)}, size == 1 ? 1 : 20);
  }
  trace.Calls({town.begin(), town.begin() + 4}, 2000).Calls(town, 2000);
  EXPECT_THAT(Sentence(trace.Ticks(town, {kCompile}, 100)),
              HasSubstr("app.Sales.town() runs 100 times per app.Sales.byTown(); "));
}

}  // namespace
}  // namespace jtrace
