// Artificial compilations: calls, and the code before each of them.
#include "agent/hotspot/code_notes.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "native-tests/agent/hotspot/noted_code.h"

namespace jtrace::sampling {
namespace {

using testing::NotedCode;

class CodeNotesTest : public ::testing::Test {
 protected:
  bool Wrong() const { return NotesAreWrong(code_.vm(), code_.blob()); }

  NotedCode code_;
};

TEST_F(CodeNotesTest, CodeOfTheCallsOwnMethodIsRight) {
  for (int i = 0; i < NotedCode::kCalls; ++i) code_.AddPair(NotedCode::kInlined);
  EXPECT_FALSE(Wrong());
}

// The method that the call's method is inlined into; it is not inlined itself.
TEST_F(CodeNotesTest, CodeOfMethodsAroundTheCallIsRight) {
  for (int i = 0; i < NotedCode::kCalls; ++i) code_.AddPair(NotedCode::kOuter);
  EXPECT_FALSE(Wrong());
}

TEST_F(CodeNotesTest, CodeOfMethodsElsewhereIsWrong) {
  for (int i = 0; i < NotedCode::kCalls; ++i) {
    code_.AddPair(i % 8 == 0 ? NotedCode::kInlined : NotedCode::kElsewhere);
  }
  EXPECT_TRUE(Wrong());
}

TEST_F(CodeNotesTest, HalfRightIsRight) {
  for (int i = 0; i < NotedCode::kCalls; ++i) {
    code_.AddPair(i % 2 == 0 ? NotedCode::kInlined : NotedCode::kElsewhere);
  }
  EXPECT_FALSE(Wrong());
}

TEST_F(CodeNotesTest, FewCallsProveNothing) {
  for (int i = 0; i < 20; ++i) code_.AddPair(NotedCode::kElsewhere);
  EXPECT_FALSE(Wrong());
}

TEST_F(CodeNotesTest, CodeFarFromACallIsNotLookedAt) {
  for (int i = 0; i < NotedCode::kCalls; ++i) code_.AddPair(NotedCode::kElsewhere, 100);
  EXPECT_FALSE(Wrong());
}

}  // namespace
}  // namespace jtrace::sampling
