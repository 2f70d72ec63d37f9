#include "agent/calls/instrument/call_site_table.h"

#include "agent/signal_safe/routine_id.h"
#include "gtest/gtest.h"

namespace jtrace::calls {
namespace {

class CallSiteTableTest : public testing::Test {
 protected:
  static classfile::RewriteResult Code(uint32_t id, std::string_view name, CallSite only,
                                       std::vector<classfile::CallSiteRange> call_sites = {}) {
    classfile::RewriteResult result;
    classfile::MethodOutcome outcome;
    outcome.method.name = name;
    outcome.id = id;
    outcome.probed = true;
    outcome.only_call_site = only;
    outcome.call_sites = std::move(call_sites);
    result.methods.push_back(outcome);
    return result;
  }

  Losses losses_;
  CallSiteTable table_{losses_};
};

TEST_F(CallSiteTableTest, NumbersAreOfARoutineAndStay) {
  EXPECT_EQ(table_.NumberOf(5, CallSiteOfLine(10)), 1u);
  EXPECT_EQ(table_.NumberOf(5, CallSiteOfLine(20)), 2u);
  EXPECT_EQ(table_.NumberOf(6, CallSiteOfLine(20)), 1u);
  EXPECT_EQ(table_.NumberOf(5, CallSiteOfLine(10)), 1u);
  EXPECT_EQ(table_.CallSiteOf(5, 2, 9), CallSiteOfLine(20));
  EXPECT_EQ(table_.CallSiteOf(5, 3, 9), kNoCallSite);
  EXPECT_EQ(table_.CallSiteOf(7, 1, 9), kNoCallSite);
}

TEST_F(CallSiteTableTest, PlacesBeyondTheLastNumberAreOneLoss) {
  for (uint32_t line = 1; line <= signal_safe::kMaxCallSites; ++line) {
    ASSERT_EQ(table_.NumberOf(5, CallSiteOfLine(line)), line);
  }
  EXPECT_EQ(table_.NumberOf(5, CallSiteOfLine(60'000)), 0u);
  EXPECT_EQ(table_.NumberOf(5, CallSiteOfLine(7)), 7u);
}

// Calls without a number are from the only place, but for those that the JVM makes.
TEST_F(CallSiteTableTest, TheOnlyPlaceIsNotThatOfInitializers) {
  table_.SetCode(Code(5, "run", CallSiteOfLine(10)));
  table_.SetCode(Code(6, "<clinit>", kNoCallSite));
  table_.SetCode(Code(7, "work", kNoCallSite));
  EXPECT_EQ(table_.CallSiteOf(5, 0, 7), CallSiteOfLine(10));
  EXPECT_EQ(table_.CallSiteOf(5, 0, 6), kNoCallSite);
  EXPECT_EQ(table_.CallSiteOf(7, 0, 5), kNoCallSite);
}

TEST_F(CallSiteTableTest, OtherCodeOfAClassIsRemembered) {
  const std::vector<uint8_t> one = {1};
  const std::vector<uint8_t> two = {2};
  EXPECT_FALSE(table_.AddClassAndFindOtherVersion("A", one));
  EXPECT_FALSE(table_.AddClassAndFindOtherVersion("A", one));
  EXPECT_FALSE(table_.AddClassAndFindOtherVersion("B", two));
  EXPECT_TRUE(table_.AddClassAndFindOtherVersion("A", two));
  EXPECT_TRUE(table_.AddClassAndFindOtherVersion("A", one));
}

TEST_F(CallSiteTableTest, FramesHaveTheLineBeforeThem) {
  table_.SetCode(Code(5, "run", kNoCallSite, {{4, CallSiteOfLine(10)}, {9, CallSiteOfLine(12)}}));
  table_.SetCode(Code(6, "run", kNoCallSite, {{4, CallSiteOfBci(1)}}));
  EXPECT_EQ(table_.CallSiteAt(5, 3), kNoCallSite);
  EXPECT_EQ(table_.CallSiteAt(5, 8), CallSiteOfLine(10));
  EXPECT_EQ(table_.CallSiteAt(5, 9), CallSiteOfLine(12));
  EXPECT_EQ(table_.CallSiteAt(6, 4), CallSiteOfBci(1));
  EXPECT_EQ(table_.CallSiteAt(6, 5), kNoCallSite);
}

}  // namespace
}  // namespace jtrace::calls
