#include "agent/jvm/hotspot/machine_code.h"

#include <gtest/gtest.h>

#include <vector>

namespace jtrace::jvm {
namespace {

// What HotSpot's continuation_enter_setup emits, for an entry of 0x40 bytes at JavaThread + 0x4c8.
const std::vector<uint8_t> kSetup = {
    0x48, 0x83, 0xec, 0x40,                    // sub rsp, 0x40
    0x49, 0x8b, 0x87, 0xc8, 0x04, 0x00, 0x00,  // mov rax, [r15 + 0x4c8]
    0x48, 0x89, 0x44, 0x24, 0x08,              // mov [rsp + 8], rax
    0x49, 0x89, 0xa7, 0xc8, 0x04, 0x00, 0x00,  // mov [r15 + 0x4c8], rsp
};

std::vector<uint8_t> Surrounded(std::vector<uint8_t> code) {
  code.insert(code.begin(), {0x55, 0x48, 0x8b, 0xec, 0x48, 0x83, 0xec, 0x10});  // another frame
  code.push_back(0xc3);
  return code;
}

TEST(ContinuationCodeTest, FindsFieldAndSize) {
  const std::vector<uint8_t> code = Surrounded(kSetup);
  const auto found = FindContinuationFields(code.data(), code.size());
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->entry, 0x4c8);
  EXPECT_EQ(found->entry_size, 0x40u);
}

TEST(ContinuationCodeTest, FindsNothingInOtherCode) {
  std::vector<uint8_t> other_field = Surrounded(kSetup);
  other_field[other_field.size() - 5] = 0xd0;  // stores to another field than it loads
  EXPECT_FALSE(FindContinuationFields(other_field.data(), other_field.size()).has_value());
  EXPECT_FALSE(FindContinuationFields(kSetup.data(), kSetup.size() - 1).has_value());
  EXPECT_FALSE(FindContinuationFields(kSetup.data(), 0).has_value());
}

}  // namespace
}  // namespace jtrace::jvm
