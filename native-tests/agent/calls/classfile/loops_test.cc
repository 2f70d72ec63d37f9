#include "agent/calls/classfile/loops.h"

#include <gtest/gtest.h>

#include <vector>

#include "common/classfile/opcodes.h"

namespace jtrace::classfile {
namespace {

// 0: nop, 1: nop, 2: nop, 3: goto 1, 6: nop, 7: ifeq 12, 10: goto 7, 13: return
const std::vector<uint8_t> kCode = {0,       0, 0, kOpGoto, 0xFF, 0xFE, 0,
                                    kOpIfeq, 0, 5, kOpGoto, 0xFF, 0xFD, kOpReturn};

TEST(LoopsTest, ALoopExtendsFromABackwardBranchsTargetToTheBranch) {
  const bool expected[] = {false, true, true, true, false, false, false, true, false, false, true};
  for (const size_t bci : {0, 1, 2, 3, 6, 7, 10}) {
    EXPECT_EQ(IsInLoop(kCode, bci), expected[bci]) << bci;
  }
  EXPECT_FALSE(IsInLoop(kCode, 13));
}

TEST(LoopsTest, WideJumps) {
  const std::vector<uint8_t> code = {0, kOpGotoW, 0xFF, 0xFF, 0xFF, 0xFF, kOpReturn};
  EXPECT_TRUE(IsInLoop(code, 0));
  EXPECT_FALSE(IsInLoop(code, 6));
}

TEST(LoopsTest, MalformedCodeHasNoLoops) {
  EXPECT_FALSE(IsInLoop(std::vector<uint8_t>{}, 0));
  EXPECT_FALSE(IsInLoop(std::vector<uint8_t>{0xFF, kOpGoto, 0xFF, 0xFF}, 0));
  EXPECT_FALSE(IsInLoop(std::vector<uint8_t>{0, kOpGoto, 0xFF}, 0));
}

}  // namespace
}  // namespace jtrace::classfile
