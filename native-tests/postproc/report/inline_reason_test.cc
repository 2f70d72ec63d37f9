#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "postproc/report/hot_arcs.h"

namespace jtrace::postproc {
namespace {

using ::testing::HasSubstr;

// A call that C2 would inline: nothing about it is out of bounds.
class InlineReasonTest : public ::testing::Test {
 protected:
  InlineReasonTest() {
    facts_.callee.bytecodes = 30;
    facts_.callee.loads = 1;
    facts_.calls = 1000;
    facts_.per_call = 1;
    facts_.places.push_back({.level = kC2Level, .bytecodes = 100, .body_size = 500});
  }
  InlineReason Why() { return WhyNotInlined(InlineLimits(model_), facts_); }

  TraceModel model_;
  ArcFacts facts_;
};

TEST_F(InlineReasonTest, UnknownIsSaid) {
  EXPECT_EQ(Why().reason, "unknown");
  EXPECT_EQ(Why().basis(), "unknown");
  EXPECT_THAT(std::string(Why().remedy), HasSubstr("PrintInlining"));
  EXPECT_EQ(InlineReason().basis(), "");
}

TEST_F(InlineReasonTest, TheLimitOfSizeDependsOnHowOftenTheCallerCalls) {
  facts_.callee.bytecodes = 36;
  EXPECT_EQ(Why().reason, "unknown");
  facts_.per_call = 0.2;
  EXPECT_EQ(Why().reason, "too big");
  EXPECT_EQ(Why().detail, "36 bytes of bytecode, MaxInlineSize=35");
  facts_.per_call = 1;
  facts_.callee.bytecodes = 325;
  EXPECT_EQ(Why().reason, "unknown");
  facts_.callee.bytecodes = 326;
  EXPECT_EQ(Why().detail, "326 bytes of bytecode, FreqInlineSize=325");
}

TEST_F(InlineReasonTest, LimitsAreThoseOfTheJvm) {
  TraceInfo& trace = model_.AddTrace("t");
  trace.SetFact("flag.FreqInlineSize", "20");
  trace.SetFact("flag.MaxInlineSize", "10");
  EXPECT_EQ(Why().detail, "30 bytes of bytecode, FreqInlineSize=20");
}

TEST_F(InlineReasonTest, OnlyCodeFromBeforeTheBodyIsTooBig) {
  facts_.callee.size = 2501;
  EXPECT_EQ(Why().reason, "unknown");
  facts_.places[0].callee_was_compiled = true;
  EXPECT_EQ(Why().detail, "2,501 bytes of code, InlineSmallCode=2500");
  facts_.callee.size = 2500;
  EXPECT_EQ(Why().reason, "unknown");
}

TEST_F(InlineReasonTest, ThreeClassesAreMegamorphicUnlessOneIsNearlyAll) {
  facts_.receivers = {{"A", 60}, {"B", 40}};
  EXPECT_EQ(Why().reason, "unknown");
  facts_.receivers = {{"A", 60}, {"B", 30}, {"C", 10}};
  EXPECT_EQ(Why().reason, "megamorphic");
  EXPECT_EQ(Why().detail, "3 classes: A 60 %, B 30 %, C 10 %");
  facts_.receivers = {{"A", 90}, {"B", 6}, {"C", 4}};
  EXPECT_EQ(Why().reason, "unknown");
  facts_.receivers = {{"A", 20}, {"B", 20}, {"C", 20}, {"D", 20}, {"E", 20}};
  EXPECT_THAT(Why().detail, HasSubstr("D 20 %, … 1 more"));
}

TEST_F(InlineReasonTest, PlacesInBodies) {
  NotInlined& place = facts_.places[0];
  place.callee_above = 2;
  EXPECT_EQ(Why().reason, "recursive");
  place.callee_above = 1;
  EXPECT_EQ(Why().reason, "unknown");
  place.depth = 15;
  EXPECT_EQ(Why().reason, "too deep");
  place.depth = 14;
  EXPECT_EQ(Why().reason, "unknown");
  place.bytecodes = 7970;
  EXPECT_EQ(Why().reason, "out of nodes");
  place.bytecodes = 7969;
  EXPECT_EQ(Why().reason, "unknown");
  place.body_size = 10'000;
  EXPECT_EQ(Why().reason, "out of nodes");
}

TEST_F(InlineReasonTest, RareCallsAreNotHotUnlessTrivial) {
  facts_.per_call = 0.008;
  EXPECT_EQ(Why().reason, "not hot");
  EXPECT_EQ(Why().detail, "in 0.8 % of the caller's calls");
  facts_.callee.bytecodes = 6;
  EXPECT_EQ(Why().reason, "unknown");
  facts_.callee.loads = 0;
  facts_.calls = 249;
  EXPECT_EQ(Why().detail, "249 calls");
  facts_.calls = 250;
  EXPECT_EQ(Why().reason, "unknown");
}

TEST_F(InlineReasonTest, C1HasLimitsOfItsOwnAndNoProfile) {
  facts_.places[0].level = 3;
  EXPECT_EQ(Why().reason, "not hot");
  facts_.receivers = {{"A", 95}, {"B", 5}};
  EXPECT_EQ(Why().reason, "megamorphic");
  facts_.receivers.clear();
  facts_.callee.bytecodes = 36;
  EXPECT_EQ(Why().detail, "36 bytes of bytecode, C1MaxInlineSize=35");
}

TEST_F(InlineReasonTest, NativeMethods) {
  facts_.callee.modifiers = 0x109;
  EXPECT_EQ(Why().reason, "native");
}

}  // namespace
}  // namespace jtrace::postproc
