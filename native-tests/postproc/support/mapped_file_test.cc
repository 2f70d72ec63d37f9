#include "postproc/support/mapped_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <thread>
#include <vector>

namespace jtrace::postproc {
namespace {

constexpr size_t kSize = size_t{1} << 20;

// A file of kSize bytes 'x' that is in no folder.
class File {
 public:
  File() : file_(tmpfile()) {
    const std::string content(kSize, 'x');
    EXPECT_EQ(fwrite(content.data(), 1, kSize, file_), kSize);
    EXPECT_EQ(fflush(file_), 0);
  }
  ~File() { fclose(file_); }
  int fd() const { return fileno(file_); }

 private:
  FILE* file_;
};

TEST(MappedFileTest, BytesThatTheFileLosesAreZeros) {
  const File file;
  const auto mapped = MappedFile::Map(file.fd(), kSize);
  ASSERT_TRUE(mapped.has_value());
  EXPECT_EQ(mapped->content().size(), kSize);
  EXPECT_EQ(mapped->content().back(), 'x');
  EXPECT_FALSE(mapped->has_lost_pages());
  ASSERT_EQ(ftruncate(file.fd(), kSize / 2), 0);
  EXPECT_EQ(mapped->content().back(), '\0');
  EXPECT_TRUE(mapped->has_lost_pages());
  EXPECT_EQ(mapped->content()[kSize / 2 - 1], 'x');
  EXPECT_EQ(mapped->content()[kSize / 2], '\0');
}

TEST(MappedFileTest, EachThreadMayFindThemMissing) {
  const File file;
  const auto mapped = MappedFile::Map(file.fd(), kSize);
  ASSERT_TRUE(mapped.has_value());
  ASSERT_EQ(ftruncate(file.fd(), 0), 0);
  std::vector<std::thread> readers;
  for (size_t i = 0; i < 4; ++i) {
    readers.emplace_back([&mapped, i] {
      for (size_t at = kSize - 1 - i * 4096; at > 8 * 4096; at -= 4 * 4096) {
        EXPECT_EQ(mapped->content()[at], '\0');
      }
    });
  }
  for (std::thread& reader : readers) reader.join();
}

TEST(MappedFileTest, OtherMappingsAreLeftAlone) {
  const File file;
  const File other;
  const auto mapped = MappedFile::Map(file.fd(), kSize);
  auto unmapped = MappedFile::Map(other.fd(), kSize);
  ASSERT_TRUE(mapped.has_value() && unmapped.has_value());
  ASSERT_EQ(ftruncate(other.fd(), 0), 0);
  EXPECT_EQ(unmapped->content().front(), '\0');
  EXPECT_FALSE(mapped->has_lost_pages());
  EXPECT_EQ(mapped->content().front(), 'x');
}

TEST(MappedFileTest, ASignalWithoutAMissingPageEndsTheProcess) {
  EXPECT_EXIT(
      {
        const File file;
        const auto mapped = MappedFile::Map(file.fd(), kSize);
        raise(SIGBUS);
        _exit(0);
      },
      // A sanitizer reports the signal and exits.
      [](int status) { return !WIFEXITED(status) || WEXITSTATUS(status) != 0; }, "");
}

TEST(MappedFileTest, SlotsAreReused) {
  const File file;
  for (int i = 0; i < 3000; ++i) ASSERT_TRUE(MappedFile::Map(file.fd(), kSize).has_value());
}

}  // namespace
}  // namespace jtrace::postproc
