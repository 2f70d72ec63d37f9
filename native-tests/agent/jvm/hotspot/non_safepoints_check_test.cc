#include <gtest/gtest.h>

#include "agent/jvm/hotspot/debug_non_safepoints.h"
#include "agent/samples/walk/debug_info.h"
#include "native-tests/agent/jvm/hotspot/noted_code.h"

namespace jtrace::jvm {
namespace {

using testing::NotedCode;

class NonSafepointsCheckTest : public ::testing::Test {
 protected:
  NonSafepointsCheckTest() { check_.Publish(); }

  void AddPairs(int32_t scope) {
    for (int i = 0; i < NotedCode::kCalls; ++i) code_.AddPair(scope);
  }
  // The first instruction of the code.
  samples::UncheckedFrame Interrupted() const {
    return {code_.pc(8), samples::CompilationKey(code_.vm(), code_.blob().address), 0, 2};
  }
  bool IsChecked() const {
    return code_.vm().checked_code->load()->Contains(Interrupted().compilation);
  }

  NotedCode code_;
  NonSafepointsCheck check_{code_.layout()};
  std::vector<samples::Frame> methods_;
};

// Safepoints alone describe values. The scopes of NotedCode do that with the bytes of the next one,
// kElsewhere, the last one, does not.
TEST_F(NonSafepointsCheckTest, WrongNotesGiveWayToTheNextSafepoint) {
  AddPairs(NotedCode::kElsewhere);
  ASSERT_FALSE(IsChecked());
  ASSERT_TRUE(check_.Correct(Interrupted(), &methods_));
  ASSERT_EQ(methods_.size(), 2u);
  EXPECT_EQ(methods_[0].value, NotedCode::kInlinedMethod);
  EXPECT_EQ(methods_[0].kind, samples::FrameKind::kInlined);
  EXPECT_EQ(methods_[1].value, NotedCode::kOuterMethod);
  EXPECT_TRUE(IsChecked());
}

TEST_F(NonSafepointsCheckTest, RightNotesStay) {
  AddPairs(NotedCode::kInlined);
  EXPECT_FALSE(check_.Correct(Interrupted(), &methods_));
  EXPECT_TRUE(IsChecked());
}

TEST_F(NonSafepointsCheckTest, ANewRecordingChecksAgain) {
  AddPairs(NotedCode::kElsewhere);
  check_.Check(code_.blob());
  ASSERT_TRUE(IsChecked());
  check_.Clear();
  EXPECT_FALSE(IsChecked());
  EXPECT_FALSE(code_.vm().unreliable_code->load()->Contains(Interrupted().compilation));
  ASSERT_TRUE(check_.Correct(Interrupted(), &methods_));
  EXPECT_EQ(methods_[0].value, NotedCode::kInlinedMethod);
  EXPECT_TRUE(IsChecked());
}

// The handler's next walk finds the verdict.
TEST_F(NonSafepointsCheckTest, TheVerdictHoldsForWalks) {
  AddPairs(NotedCode::kElsewhere);
  check_.Check(code_.blob());
  ASSERT_TRUE(IsChecked());
  samples::Frame storage[4];
  samples::Chain chain(storage, 4);
  samples::DebugInfo(code_.vm(), code_.blob()).PushScopes(code_.pc(8), true, 0, chain);
  ASSERT_EQ(chain.pushed(), 2u);
  EXPECT_EQ(storage[0].value, NotedCode::kInlinedMethod);
}

TEST_F(NonSafepointsCheckTest, FreedCodeIsNotChecked) {
  AddPairs(NotedCode::kElsewhere);
  const samples::UncheckedFrame frame = Interrupted();
  code_.Free();
  EXPECT_FALSE(check_.Correct(frame, &methods_));
  EXPECT_FALSE(code_.vm().checked_code->load()->Contains(frame.compilation));
}

TEST_F(NonSafepointsCheckTest, CodeThatReplacedTheSamplesIsNotChecked) {
  AddPairs(NotedCode::kElsewhere);
  const samples::UncheckedFrame frame = Interrupted();
  code_.CompileAgain();
  EXPECT_FALSE(check_.Correct(frame, &methods_));
  EXPECT_FALSE(IsChecked());
}

}  // namespace
}  // namespace jtrace::jvm
