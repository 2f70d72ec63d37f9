#include "agent/jvm/hotspot/checked_read.h"

#include <errno.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <string>

namespace jtrace::jvm {
namespace {

uintptr_t AddressOf(const void* object) { return reinterpret_cast<uintptr_t>(object); }

// Two pages, the second of which is not readable.
class CheckedReadTest : public ::testing::Test {
 protected:
  CheckedReadTest()
      : page_bytes_(static_cast<size_t>(sysconf(_SC_PAGESIZE))),
        memory_(static_cast<char*>(mmap(nullptr, 2 * page_bytes_, PROT_READ | PROT_WRITE,
                                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    std::memset(memory_, 'x', page_bytes_);
    mprotect(memory_ + page_bytes_, page_bytes_, PROT_NONE);
  }
  ~CheckedReadTest() override { munmap(memory_, 2 * page_bytes_); }

  uintptr_t end() const { return AddressOf(memory_ + page_bytes_); }

  const size_t page_bytes_;
  char* const memory_;
};

TEST_F(CheckedReadTest, CopiesWhatIsMapped) {
  char copy[16];
  ASSERT_TRUE(CheckedCopy(end() - sizeof copy, copy, sizeof copy));
  EXPECT_EQ(std::string(copy, sizeof copy), std::string(16, 'x'));
}

TEST_F(CheckedReadTest, FailsAtTheFirstByteThatIsNot) {
  char copy[16];
  EXPECT_FALSE(CheckedCopy(end() - 15, copy, sizeof copy));
  EXPECT_FALSE(CheckedCopy(0, copy, 1));
  EXPECT_FALSE(CheckedCopy(~uintptr_t{7}, copy, 8));
}

TEST_F(CheckedReadTest, KeepsErrno) {
  char byte;
  errno = ENOTTY;
  EXPECT_FALSE(CheckedCopy(0, &byte, 1));
  EXPECT_EQ(errno, ENOTTY);
}

TEST_F(CheckedReadTest, PagesAreReadUpToTheirEnd) {
  PageReader reader;
  EXPECT_EQ(reader.Load<uint32_t>(end() - 4), 0x7878'7878u);
  EXPECT_EQ(reader.Load<uint32_t>(end() - 3), 0u);
}

TEST_F(CheckedReadTest, TextsEndWithAZeroOrAreEmpty) {
  PageReader reader;
  EXPECT_EQ(reader.Text(end() - 5), "");
  EXPECT_EQ(reader.Text(end() - 5, 5), "xxxxx");
  memory_[page_bytes_ - 1] = 0;
  EXPECT_EQ(PageReader().Text(end() - 5), "xxxx");
}

TEST_F(CheckedReadTest, TextsCrossPages) {
  mprotect(memory_ + page_bytes_, page_bytes_, PROT_READ | PROT_WRITE);
  std::strcpy(memory_ + page_bytes_ - 3, "across");
  PageReader reader;
  EXPECT_EQ(reader.Text(end() - 3), "across");
}

}  // namespace
}  // namespace jtrace::jvm
