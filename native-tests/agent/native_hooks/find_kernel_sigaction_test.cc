// Finds where a C library's sigaction makes the system call, in code that is written here.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "agent/native_hooks/trap_signal.h"

namespace jtrace::native_hooks {
namespace {

// A function that jumps to or calls another one, which loads a number and makes the system call.
std::vector<uint8_t> Functions(uint8_t branch, uint8_t number, bool returns_first) {
  constexpr uint8_t kNop = 0x90;
  constexpr uint8_t kReturn = 0xc3;
  std::vector<uint8_t> code = {kNop, branch, 3, 0, 0, 0, kReturn, kNop, kNop};
  if (returns_first) code.push_back(kReturn);
  code.insert(code.end(), {0xb8, number, 0, 0, 0, kNop, 0x0f, 0x05, kReturn});
  return code;
}

TEST(FindKernelSigactionTest, FindsTheFunctionThatMakesTheSystemCall) {
  constexpr uint8_t kCall = 0xe8;
  constexpr uint8_t kJump = 0xe9;
  constexpr size_t kFirst = 7;  // bytes of the first function
  for (const uint8_t branch : {kCall, kJump}) {
    const std::vector<uint8_t> code = Functions(branch, 13, false);
    const auto begin = reinterpret_cast<uintptr_t>(code.data());
    const auto found = FindKernelSigaction(begin, kFirst);
    ASSERT_TRUE(found.ok()) << found.status();
    EXPECT_EQ(found->address, begin + 1);
    EXPECT_EQ(found->target, begin + 9);
    // After the function's end.
    EXPECT_FALSE(FindKernelSigaction(begin, 3).ok());
  }
  const auto finds = [](const std::vector<uint8_t>& code) {
    return FindKernelSigaction(reinterpret_cast<uintptr_t>(code.data()), kFirst).ok();
  };
  EXPECT_FALSE(finds(Functions(kJump, 14, false)));
  EXPECT_FALSE(finds(Functions(kJump, 13, true)));
  EXPECT_FALSE(finds(std::vector<uint8_t>(kFirst, 0x90)));
}

}  // namespace
}  // namespace jtrace::native_hooks
