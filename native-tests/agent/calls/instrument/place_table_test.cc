#include "agent/calls/instrument/call_sites.h"
#include "agent/signal_safe/probe_memory.h"
#include "gtest/gtest.h"

namespace jtrace::calls {
namespace {

class PlaceTableTest : public testing::Test {
 protected:
  static classfile::InstrumentResult Code(uint32_t id, std::string_view name, CallPlace only,
                                          std::vector<classfile::PlacedCode> placed = {}) {
    classfile::InstrumentResult result;
    classfile::MethodOutcome outcome;
    outcome.method.name = name;
    outcome.id = id;
    outcome.probed = true;
    outcome.only_place = only;
    outcome.placed = std::move(placed);
    result.methods.push_back(outcome);
    return result;
  }

  Losses losses_;
  PlaceTable table_{losses_};
};

TEST_F(PlaceTableTest, NumbersAreOfARoutineAndStay) {
  EXPECT_EQ(table_.NumberOf(5, PlaceOfLine(10)), 1u);
  EXPECT_EQ(table_.NumberOf(5, PlaceOfLine(20)), 2u);
  EXPECT_EQ(table_.NumberOf(6, PlaceOfLine(20)), 1u);
  EXPECT_EQ(table_.NumberOf(5, PlaceOfLine(10)), 1u);
  EXPECT_EQ(table_.Place(5, 2, 9), PlaceOfLine(20));
  EXPECT_EQ(table_.Place(5, 3, 9), kNoCallPlace);
  EXPECT_EQ(table_.Place(7, 1, 9), kNoCallPlace);
}

TEST_F(PlaceTableTest, PlacesBeyondTheLastNumberAreOneLoss) {
  for (uint32_t line = 1; line <= signal_safe::kMaxPlaces; ++line) {
    ASSERT_EQ(table_.NumberOf(5, PlaceOfLine(line)), line);
  }
  EXPECT_EQ(table_.NumberOf(5, PlaceOfLine(60'000)), 0u);
  EXPECT_EQ(table_.NumberOf(5, PlaceOfLine(7)), 7u);
}

// Calls without a number are from the only place, but for those that the JVM makes.
TEST_F(PlaceTableTest, TheOnlyPlaceIsNotThatOfInitializers) {
  table_.SetCode(Code(5, "run", PlaceOfLine(10)));
  table_.SetCode(Code(6, "<clinit>", kNoCallPlace));
  table_.SetCode(Code(7, "work", kNoCallPlace));
  EXPECT_EQ(table_.Place(5, 0, 7), PlaceOfLine(10));
  EXPECT_EQ(table_.Place(5, 0, 6), kNoCallPlace);
  EXPECT_EQ(table_.Place(7, 0, 5), kNoCallPlace);
}

TEST_F(PlaceTableTest, OtherCodeOfAClassIsRemembered) {
  const std::vector<uint8_t> one = {1};
  const std::vector<uint8_t> two = {2};
  EXPECT_FALSE(table_.KnowsOtherCode("A", one));
  EXPECT_FALSE(table_.KnowsOtherCode("A", one));
  EXPECT_FALSE(table_.KnowsOtherCode("B", two));
  EXPECT_TRUE(table_.KnowsOtherCode("A", two));
  EXPECT_TRUE(table_.KnowsOtherCode("A", one));
}

TEST_F(PlaceTableTest, FramesHaveTheLineBeforeThem) {
  table_.SetCode(Code(5, "run", kNoCallPlace, {{4, PlaceOfLine(10)}, {9, PlaceOfLine(12)}}));
  table_.SetCode(Code(6, "run", kNoCallPlace, {{4, PlaceOfBci(1)}}));
  EXPECT_EQ(table_.PlaceAt(5, 3), kNoCallPlace);
  EXPECT_EQ(table_.PlaceAt(5, 8), PlaceOfLine(10));
  EXPECT_EQ(table_.PlaceAt(5, 9), PlaceOfLine(12));
  EXPECT_EQ(table_.PlaceAt(6, 4), PlaceOfBci(1));
  EXPECT_EQ(table_.PlaceAt(6, 5), kNoCallPlace);
}

}  // namespace
}  // namespace jtrace::calls
