#include "agent/hotspot/notes_judge.h"

#include <gtest/gtest.h>

#include "agent/hot/walk/debug_info.h"
#include "native-tests/agent/hotspot/noted_code.h"

namespace jtrace::sampling {
namespace {

using testing::NotedCode;

class NotesJudgeTest : public ::testing::Test {
 protected:
  NotesJudgeTest() { judge_.Publish(); }

  void AddPairs(int32_t scope) {
    for (int i = 0; i < NotedCode::kCalls; ++i) code_.AddPair(scope);
  }
  // The first instruction of the code.
  hot::UnjudgedFrame Interrupted() const {
    return {code_.pc(8), hot::CompilationKey(code_.vm(), code_.blob().address), 0, 2};
  }
  bool IsJudged() const {
    return code_.vm().judged_code->load()->Contains(Interrupted().compilation);
  }

  NotedCode code_;
  NotesJudge judge_{code_.layout()};
  std::vector<hot::Frame> methods_;
};

// Safepoints alone describe values. The scopes of NotedCode do that with the bytes of the next one,
// kElsewhere, the last one, does not.
TEST_F(NotesJudgeTest, WrongNotesGiveWayToTheNextSafepoint) {
  AddPairs(NotedCode::kElsewhere);
  ASSERT_FALSE(IsJudged());
  ASSERT_TRUE(judge_.Correct(Interrupted(), &methods_));
  ASSERT_EQ(methods_.size(), 2u);
  EXPECT_EQ(methods_[0].value, NotedCode::kInlinedMethod);
  EXPECT_EQ(methods_[0].kind, hot::FrameKind::kInlined);
  EXPECT_EQ(methods_[1].value, NotedCode::kOuterMethod);
  EXPECT_TRUE(IsJudged());
}

TEST_F(NotesJudgeTest, RightNotesStay) {
  AddPairs(NotedCode::kInlined);
  EXPECT_FALSE(judge_.Correct(Interrupted(), &methods_));
  EXPECT_TRUE(IsJudged());
}

TEST_F(NotesJudgeTest, ANewRecordingJudgesAgain) {
  AddPairs(NotedCode::kElsewhere);
  judge_.Judge(code_.blob());
  ASSERT_TRUE(IsJudged());
  judge_.Clear();
  EXPECT_FALSE(IsJudged());
  EXPECT_FALSE(code_.vm().unreliable_code->load()->Contains(Interrupted().compilation));
  ASSERT_TRUE(judge_.Correct(Interrupted(), &methods_));
  EXPECT_EQ(methods_[0].value, NotedCode::kInlinedMethod);
  EXPECT_TRUE(IsJudged());
}

// The handler's next walk finds the verdict.
TEST_F(NotesJudgeTest, TheVerdictHoldsForWalks) {
  AddPairs(NotedCode::kElsewhere);
  judge_.Judge(code_.blob());
  ASSERT_TRUE(IsJudged());
  hot::Frame storage[4];
  hot::Chain chain(storage, 4);
  hot::DebugInfo(code_.vm(), code_.blob()).PushScopes(code_.pc(8), true, 0, chain);
  ASSERT_EQ(chain.pushed(), 2u);
  EXPECT_EQ(storage[0].value, NotedCode::kInlinedMethod);
}

TEST_F(NotesJudgeTest, FreedCodeIsNotJudged) {
  AddPairs(NotedCode::kElsewhere);
  const hot::UnjudgedFrame frame = Interrupted();
  code_.Free();
  EXPECT_FALSE(judge_.Correct(frame, &methods_));
  EXPECT_FALSE(code_.vm().judged_code->load()->Contains(frame.compilation));
}

TEST_F(NotesJudgeTest, CodeThatReplacedTheSamplesIsNotJudged) {
  AddPairs(NotedCode::kElsewhere);
  const hot::UnjudgedFrame frame = Interrupted();
  code_.CompileAgain();
  EXPECT_FALSE(judge_.Correct(frame, &methods_));
  EXPECT_FALSE(IsJudged());
}

}  // namespace
}  // namespace jtrace::sampling
