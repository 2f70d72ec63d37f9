#include "agent/native_hooks/out_of_line_code.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

namespace jtrace::native_hooks {
namespace {

TEST(CodeWriterTest, WritesToPagesThatAreNotWritable) {
  void* const page = mmap(nullptr, 8192, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const auto address = reinterpret_cast<uintptr_t>(page) + 4094;
  const uint8_t bytes[] = {1, 2, 3, 4};  // across pages
  ASSERT_TRUE(WriteNewCode(address, bytes).ok());
  ASSERT_TRUE(WriteCodeByte(address + 1, 7).ok());
  SerializeProcessors();
  const auto* const written = reinterpret_cast<const uint8_t*>(address);
  EXPECT_EQ(written[0], 1);
  EXPECT_EQ(written[1], 7);
  EXPECT_EQ(written[3], 4);
  EXPECT_FALSE(WriteCodeByte(8, 1).ok());
}

TEST(SlotPagesTest, AFailedHookTakesNoPage) {
  if (signal_safe::hook_page_count.load() != 0) GTEST_SKIP() << "this process has other pages";
  // More than 2 GB from every mapping.
  constexpr uintptr_t kFar = uintptr_t{1} << 45;
  OutOfLineCode pages;
  const auto first = pages.Allocate(kFar);
  ASSERT_TRUE(first.ok()) << first.status();
  pages.Release(*first);
  const uint32_t count = signal_safe::hook_page_count.load();
  for (int i = 0; i < 3; ++i) {
    const auto again = pages.Allocate(kFar);
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(*again, *first);
    pages.Release(*again);
  }
  const auto second = pages.Allocate(kFar);
  const auto third = pages.Allocate(kFar);
  ASSERT_TRUE(second.ok() && third.ok());
  EXPECT_EQ(*third, *second + signal_safe::kHookSlotBytes);
  EXPECT_EQ(signal_safe::hook_page_count.exchange(0), count);
}

}  // namespace
}  // namespace jtrace::native_hooks
