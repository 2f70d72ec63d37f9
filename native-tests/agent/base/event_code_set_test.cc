#include "agent/base/event_code_set.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace jtrace {
namespace {

using ::testing::HasSubstr;

TEST(CodesTest, CostlyOnesAreOffByDefault) {
  const EventCodeSet codes;
  for (const Code on :
       {Code::kNamedThread, Code::kClass, Code::kJitCode, Code::kGc, Code::kSegment}) {
    EXPECT_TRUE(codes.Has(on));
  }
  for (const Code off : {Code::kThrown, Code::kCaught, Code::kAllocation, Code::kBoundary,
                         Code::kPark, Code::kUnpark, Code::kClassMethod}) {
    EXPECT_FALSE(codes.Has(off));
  }
  EXPECT_EQ(codes.Changes(), "");
}

TEST(CodesTest, NumbersAndNamesSwitch) {
  EventCodeSet codes;
  ASSERT_TRUE(codes.Apply("+0x61;-0x51; alloc ;-gc").ok());
  EXPECT_TRUE(codes.Has(Code::kContended));
  EXPECT_TRUE(codes.Has(Code::kWait));
  EXPECT_TRUE(codes.Has(Code::kAllocation));
  for (const Code off : {Code::kJitCode, Code::kJitInlining, Code::kStub, Code::kGc}) {
    EXPECT_FALSE(codes.Has(off));
  }
  EXPECT_EQ(codes.Changes(), "-code;-inlining;-stub;-gc;+contended;+wait;+alloc");
  ASSERT_TRUE(codes.Apply("gc").ok());
  EXPECT_TRUE(codes.Has(Code::kGc));
  EXPECT_FALSE(codes.Has(Code::kJitCode));
}

TEST(CodesTest, AMinorSwitchesAlone) {
  EventCodeSet codes;
  ASSERT_TRUE(codes.Apply("-0x51/0x2;+0x61/0x1;+thrown;-0x30/0x10").ok());
  EXPECT_EQ(codes.Changes(), "-interpreted;+thrown;-inlining;+contended");
  EventCodeSet again;
  ASSERT_TRUE(again.Apply(codes.Changes()).ok());
  EXPECT_EQ(again.Changes(), codes.Changes());
}

TEST(CodesTest, AModeHasItsOwnDefaults) {
  EventCodeSet codes;
  codes.SetDefault(Code::kJitCode, false);
  EXPECT_FALSE(codes.Has(Code::kJitCode));
  EXPECT_EQ(codes.Changes(), "");
  EventCodeSet asked;
  ASSERT_TRUE(asked.Apply("+jit").ok());
  asked.SetDefault(Code::kJitCode, false);
  EXPECT_TRUE(asked.Has(Code::kJitCode));
  EXPECT_EQ(asked.Changes(), "+code");
}

TEST(CodesTest, RefusedIsMoreThanOff) {
  EventCodeSet codes;
  EXPECT_FALSE(codes.WasSwitchedOff(Code::kJitCode));
  ASSERT_TRUE(codes.Apply("-0x51/0x1").ok());
  codes.SetDefault(Code::kJitCode, false);
  EXPECT_TRUE(codes.WasSwitchedOff(Code::kJitCode));
  EXPECT_FALSE(codes.WasSwitchedOff(Code::kJitInlining));
  EXPECT_EQ(codes.Changes(), "-code");
  ASSERT_TRUE(codes.Apply("+jit").ok());
  EXPECT_FALSE(codes.WasSwitchedOff(Code::kJitCode));
}

TEST(CodesTest, RecordsFollowTheirSwitch) {
  EventCodeSet codes;
  ASSERT_TRUE(codes.Apply("-0x20/0x1").ok());
  EXPECT_FALSE(codes.HasRecord(0x20, 0x1));
  EXPECT_FALSE(codes.HasRecord(0x20, 0x80000001)) << "an end goes with its begin";
  EXPECT_TRUE(codes.HasRecord(0x20, 0x4));
  EXPECT_TRUE(codes.HasRecord(0x20, 0x99)) << "no switch of its own";
  ASSERT_TRUE(codes.Apply("-0x20").ok());
  EXPECT_FALSE(codes.HasRecord(0x20, 0x99));
  EXPECT_TRUE(codes.HasRecord(0x8, 0x3)) << "marks";
}

TEST(CodesTest, ANumberSwitchesAllOfItsMajor) {
  EventCodeSet codes;
  ASSERT_TRUE(codes.Apply("+0x20").ok());
  EXPECT_TRUE(codes.Has(Code::kClassPrepare));
  ASSERT_TRUE(codes.Apply("-prepare").ok());
  EXPECT_FALSE(codes.Has(Code::kClassPrepare));
  EXPECT_TRUE(codes.Has(Code::kClass));
}

TEST(CodesTest, UnknownOnesAreRejectedWithTheNearest) {
  EventCodeSet codes;
  EXPECT_THAT(codes.Apply("+monitr").message(), HasSubstr("did you mean monitor?"));
  EXPECT_THAT(codes.Apply("0xd").message(), HasSubstr("did you mean 0x10 (thread)?"));
  EXPECT_THAT(codes.Apply("0x68").message(), HasSubstr("did you mean 0x66 (lock)?"));
  EXPECT_THAT(codes.Apply("0x").message(), HasSubstr("'0x' is not a code"));
  EXPECT_THAT(codes.Apply("-").message(), HasSubstr("'' is not a code"));
  EXPECT_THAT(codes.Apply("-0x20/0x9").message(), HasSubstr("did you mean 0x20/0x5 (unprobed)?"));
  EXPECT_THAT(codes.Apply("-0x20/").message(), HasSubstr("'0x20/' is not a code"));
  EXPECT_THAT(codes.Apply("-0x20/0x80000001").message(),
              HasSubstr("'0x20/0x80000001' is the end of 0x20/0x1, which switches both"));
  EXPECT_THAT(codes.Apply("contnded").message(), HasSubstr("did you mean contended?"));
}

TEST(CodesTest, HelpHasALineACode) {
  const std::string help = EventCodesHelp();
  EXPECT_THAT(help, HasSubstr("0x61/0x1        contended"));
  EXPECT_EQ(std::count(help.begin(), help.end(), '\n'), static_cast<int>(kCodeCount));
}

}  // namespace
}  // namespace jtrace
