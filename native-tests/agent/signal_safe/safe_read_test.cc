#include "agent/signal_safe/safe_read.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent/samples/signals.h"

namespace jtrace::signal_safe {
namespace {

// Our own load with our own fault handler: used where libjvm has no SafeFetch.
class SafeReadTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(samples::InstallFaultHandler().ok());
    const long page = sysconf(_SC_PAGESIZE);
    pages_ = static_cast<std::byte*>(
        mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_EQ(mprotect(pages_ + page, page, PROT_NONE), 0);
    good_ = reinterpret_cast<uintptr_t>(pages_);
    bad_ = good_ + page;
  }
  void TearDown() override { munmap(pages_, 2 * sysconf(_SC_PAGESIZE)); }

  std::byte* pages_ = nullptr;
  uintptr_t good_ = 0;
  uintptr_t bad_ = 0;
};

TEST_F(SafeReadTest, ReadsMappedMemory) {
  *reinterpret_cast<uint64_t*>(good_) = 0x1122'3344'5566'7788;
  uintptr_t value = 0;
  EXPECT_TRUE(SafeReadWord(good_, &value));
  EXPECT_EQ(value, 0x1122'3344'5566'7788u);
}

TEST_F(SafeReadTest, FailsOnUnreadableMemory) {
  uintptr_t value = 7;
  for (int i = 0; i < 1000; ++i) {
    EXPECT_FALSE(SafeReadWord(bad_ + 8 * static_cast<uintptr_t>(i % 100), &value));
  }
  EXPECT_EQ(value, 7u);
  EXPECT_EQ(SafeReadOr0(bad_), 0u);
}

TEST_F(SafeReadTest, FailsOnImpossibleAddresses) {
  uintptr_t value;
  EXPECT_FALSE(SafeReadWord(0, &value));
  EXPECT_FALSE(SafeReadWord(8, &value));
  EXPECT_FALSE(SafeReadWord(good_ + 4, &value));
  EXPECT_FALSE(SafeReadWord(uintptr_t{1} << 47, &value));
  EXPECT_FALSE(SafeReadWord(~uintptr_t{7}, &value));
}

// The values that a failed load returns are ordinary values in memory.
TEST_F(SafeReadTest, ReadsTheErrorValuesToo) {
  for (const uint64_t stored : {0x5afe'4ead'0bad'0001ull, 0x5afe'4ead'0bad'0002ull}) {
    *reinterpret_cast<uint64_t*>(good_) = stored;
    uintptr_t value = 0;
    EXPECT_TRUE(SafeReadWord(good_, &value));
    EXPECT_EQ(value, stored);
  }
}

TEST_F(SafeReadTest, ReadsPartsOfWords) {
  *reinterpret_cast<uint64_t*>(good_) = 0x1122'3344'5566'7788;
  uint16_t half = 0;
  EXPECT_TRUE(SafeRead(good_ + 2, &half));
  EXPECT_EQ(half, 0x5566);
  uint32_t word = 0;
  EXPECT_TRUE(SafeRead(good_ + 4, &word));
  EXPECT_EQ(word, 0x1122'3344u);
  EXPECT_FALSE(SafeRead(good_ + 2, &word));
  EXPECT_FALSE(SafeRead(bad_ + 4, &word));
}

}  // namespace
}  // namespace jtrace::signal_safe
