#include "agent/native_hooks/displaced_instruction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace jtrace::native_hooks {
namespace {

constexpr uintptr_t kFrom = 0x7f0000001000;
constexpr uintptr_t kSlot = 0x7f0000400000;

std::string Why(std::vector<uint8_t> bytes) {
  bytes.resize(kMaxInstruction, 0x90);
  const auto displaced = Displace(bytes, kFrom, kSlot);
  return displaced.ok() ? "" : std::string(displaced.status().message());
}

TEST(DisplacedInstructionTest, RefusesInstructionsThatDependOnTheirPlace) {
  EXPECT_THAT(Why({0xcc}), testing::HasSubstr("another breakpoint"));
  EXPECT_THAT(Why({0x0f, 0x0b}), testing::HasSubstr("trap"));
  EXPECT_THAT(Why({0xf4}), testing::HasSubstr("trap"));
  EXPECT_THAT(Why({0x0f, 0x05}), testing::HasSubstr("system call"));
  EXPECT_THAT(Why({0xc7, 0xf8, 0, 0, 0, 0}), testing::HasSubstr("transaction"));
  EXPECT_THAT(Why({0x06}), testing::HasSubstr("not an instruction"));
  EXPECT_THAT(Why({0xff, 0x54, 0x24, 0x08}), testing::HasSubstr("stack"));  // call [rsp+8]
  EXPECT_EQ(Why({0x55}), "");
}

TEST(DisplacedInstructionTest, RefusesASlotOutOfReach) {
  std::vector<uint8_t> bytes = {0x8b, 0x05, 3, 0, 0, 0};
  bytes.resize(kMaxInstruction, 0x90);
  EXPECT_TRUE(absl::IsOutOfRange(Displace(bytes, kFrom, kFrom + (uintptr_t{3} << 31)).status()));
}

TEST(DisplacedInstructionTest, KeepsMemoryRelativeToRip) {
  std::vector<uint8_t> bytes = {0x8b, 0x05, 3, 0, 0, 0};  // mov eax, [rip + 3]
  bytes.resize(kMaxInstruction, 0x90);
  const auto displaced = Displace(bytes, kFrom, kSlot);
  ASSERT_TRUE(displaced.ok());
  EXPECT_TRUE(displaced->is_position_bound);
  int32_t distance = 0;
  std::memcpy(&distance, &displaced->code[2], sizeof distance);
  EXPECT_EQ(kSlot + 6 + static_cast<uintptr_t>(distance), kFrom + 6 + 3);
  EXPECT_EQ(displaced->after, kFrom + 6);
}

// Any bytes: an instruction for a slot, or a reason.
TEST(DisplacedInstructionTest, AcceptsAnyBytes) {
  uint64_t random = 88172645463325252u;
  int taken = 0;
  for (int i = 0; i < 200'000; ++i) {
    std::vector<uint8_t> bytes(kMaxInstruction);
    for (uint8_t& byte : bytes) {
      random ^= random << 13;
      random ^= random >> 7;
      random ^= random << 17;
      byte = static_cast<uint8_t>(random);
    }
    const auto displaced = Displace(bytes, kFrom, kSlot);
    if (!displaced.ok()) {
      EXPECT_FALSE(displaced.status().message().empty());
      continue;
    }
    ++taken;
    EXPECT_EQ(displaced->length, InstructionLength(bytes));
    EXPECT_LE(displaced->length, kMaxInstruction);
  }
  EXPECT_GT(taken, 100'000);
}

}  // namespace
}  // namespace jtrace::native_hooks
