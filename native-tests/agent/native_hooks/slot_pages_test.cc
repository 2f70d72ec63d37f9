#include "agent/native_hooks/slot_pages.h"

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

}  // namespace
}  // namespace jtrace::native_hooks
