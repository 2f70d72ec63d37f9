#include <gtest/gtest.h>

#include <cstring>

#include "agent/samples/walk/call_instruction.h"

namespace jtrace::samples {
namespace {

bool IsCall(uint32_t last) {
  uint8_t bytes[8] = {};
  std::memcpy(bytes + 4, &last, sizeof last);
  return EndsWithCall(bytes);
}

TEST(EndsWithCallTest, KnowsCalls) {
  EXPECT_TRUE(IsCall(0x94000001)) << "bl .+4";
  EXPECT_TRUE(IsCall(0x97ffffff)) << "bl .-4";
  EXPECT_TRUE(IsCall(0xd63f0100)) << "blr x8";
}

TEST(EndsWithCallTest, KnowsOthers) {
  EXPECT_FALSE(IsCall(0x14000001)) << "b .+4";
  EXPECT_FALSE(IsCall(0xd61f0100)) << "br x8";
  EXPECT_FALSE(IsCall(0xd65f03c0)) << "ret";
  EXPECT_FALSE(IsCall(0xd503201f)) << "nop";
}

}  // namespace
}  // namespace jtrace::samples
