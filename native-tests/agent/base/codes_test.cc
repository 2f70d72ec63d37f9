#include "agent/base/codes.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace jtrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(CodesTest, CostlyOnesAreOffByDefault) {
  const CodeSet codes;
  for (const Code on : {Code::kThread, Code::kClass, Code::kJit, Code::kGc}) {
    EXPECT_TRUE(codes.Has(on));
  }
  for (const Code off : {Code::kException, Code::kAllocation, Code::kBoundary, Code::kPark}) {
    EXPECT_FALSE(codes.Has(off));
  }
  EXPECT_TRUE(codes.MajorsOff().empty());
}

TEST(CodesTest, NumbersAndNamesSwitch) {
  CodeSet codes;
  ASSERT_TRUE(codes.Apply("+0x61;-0x51; alloc ;-gc").ok());
  EXPECT_TRUE(codes.Has(Code::kMonitor));
  EXPECT_TRUE(codes.Has(Code::kAllocation));
  EXPECT_FALSE(codes.Has(Code::kJit));
  EXPECT_THAT(codes.MajorsOff(), ElementsAre(0x51, 0x60));
  ASSERT_TRUE(codes.Apply("gc").ok());
  EXPECT_THAT(codes.MajorsOff(), ElementsAre(0x51));
}

TEST(CodesTest, ANumberSwitchesAllOfItsMajor) {
  CodeSet codes;
  ASSERT_TRUE(codes.Apply("+0x20").ok());
  EXPECT_TRUE(codes.Has(Code::kClassPrepare));
  ASSERT_TRUE(codes.Apply("-prepare").ok());
  EXPECT_FALSE(codes.Has(Code::kClassPrepare));
  EXPECT_TRUE(codes.Has(Code::kClass));
}

TEST(CodesTest, UnknownOnesAreRejectedWithTheNearest) {
  CodeSet codes;
  EXPECT_THAT(codes.Apply("+monitr").message(), HasSubstr("did you mean monitor?"));
  EXPECT_THAT(codes.Apply("0x68").message(), HasSubstr("did you mean 0x62 (park)?"));
  EXPECT_THAT(codes.Apply("0x").message(), HasSubstr("'0x' is not a code"));
  EXPECT_THAT(codes.Apply("-").message(), HasSubstr("'' is not a code"));
}

TEST(CodesTest, HelpHasALineACode) {
  const std::string help = CodesHelp();
  EXPECT_THAT(help, HasSubstr("0x61 monitor"));
  EXPECT_EQ(std::count(help.begin(), help.end(), '\n'), static_cast<int>(kCodeCount));
}

}  // namespace
}  // namespace jtrace
