// Artificial compilations: calls, and the code before each of them.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "agent/jvm/hotspot/debug_non_safepoints.h"
#include "native-tests/agent/jvm/hotspot/noted_code.h"

namespace jtrace::jvm {
namespace {

using testing::NotedCode;

class DebugInfoIsWrongTest : public ::testing::Test {
 protected:
  bool Wrong() const { return DebugInfoIsWrong(code_.vm(), code_.blob()); }

  NotedCode code_;
};

TEST_F(DebugInfoIsWrongTest, CodeOfTheCallsOwnMethodIsRight) {
  for (int i = 0; i < NotedCode::kCalls; ++i) code_.AddPair(NotedCode::kInlined);
  EXPECT_FALSE(Wrong());
}

// The method that the call's method is inlined into; it is not inlined itself.
TEST_F(DebugInfoIsWrongTest, CodeOfMethodsAroundTheCallIsRight) {
  for (int i = 0; i < NotedCode::kCalls; ++i) code_.AddPair(NotedCode::kOuter);
  EXPECT_FALSE(Wrong());
}

TEST_F(DebugInfoIsWrongTest, CodeOfMethodsElsewhereIsWrong) {
  for (int i = 0; i < NotedCode::kCalls; ++i) {
    code_.AddPair(i % 8 == 0 ? NotedCode::kInlined : NotedCode::kElsewhere);
  }
  EXPECT_TRUE(Wrong());
}

TEST_F(DebugInfoIsWrongTest, HalfRightIsRight) {
  for (int i = 0; i < NotedCode::kCalls; ++i) {
    code_.AddPair(i % 2 == 0 ? NotedCode::kInlined : NotedCode::kElsewhere);
  }
  EXPECT_FALSE(Wrong());
}

TEST_F(DebugInfoIsWrongTest, FewCallsProveNothing) {
  for (int i = 0; i < 20; ++i) code_.AddPair(NotedCode::kElsewhere);
  EXPECT_FALSE(Wrong());
}

TEST_F(DebugInfoIsWrongTest, CodeFarFromACallIsNotLookedAt) {
  for (int i = 0; i < NotedCode::kCalls; ++i) code_.AddPair(NotedCode::kElsewhere, 100);
  EXPECT_FALSE(Wrong());
}

}  // namespace
}  // namespace jtrace::jvm
