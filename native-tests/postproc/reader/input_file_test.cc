#include "postproc/reader/input_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <thread>

namespace jtrace::postproc {
namespace {

using ::testing::HasSubstr;

// A path without a file, before and after the test.
class Path {
 public:
  explicit Path(const std::string& name)
      : path_(testing::TempDir() + "/input_file_test." + std::to_string(getpid()) + name) {}
  ~Path() { unlink(path_.c_str()); }
  const std::string& get() const { return path_; }

 private:
  std::string path_;
};

std::string WhyNotRegular(const std::string& path) {
  return std::string(InputFile::OpenRegular(path).status().message());
}

TEST(InputFileTest, RegularFilesAreRead) {
  const Path path(".regular");
  std::ofstream(path.get()) << "bytes";
  EXPECT_EQ(InputFile::Open(path.get())->content(), "bytes");
  EXPECT_EQ(InputFile::OpenRegular(path.get())->content(), "bytes");
}

TEST(InputFileTest, DevicesAreNotTraces) {
  EXPECT_THAT(InputFile::Open("/dev/zero").status().message(),
              HasSubstr("/dev/zero is a device, not a trace"));
}

TEST(InputFileTest, ATraceMayNameOnlyFiles) {
  const Path pipe(".pipe");
  ASSERT_EQ(mkfifo(pipe.get().c_str(), 0600), 0) << "no process will ever write to it";
  for (const std::string& path :
       {pipe.get(), std::string("/dev/zero"), std::string("/proc/self/pagemap"),
        std::string("/proc/self/maps"), testing::TempDir()}) {
    EXPECT_THAT(WhyNotRegular(path), HasSubstr("is not a file"));
  }
}

TEST(InputFileTest, HugeModulesAreRejected) {
  const Path path(".large");
  std::ofstream(path.get()).close();
  ASSERT_EQ(truncate(path.get().c_str(), off_t{1} << 32), 0);
  EXPECT_THAT(WhyNotRegular(path.get()), HasSubstr("larger than any module"));
}

TEST(InputFileTest, PipesAreReadToALimit) {
  const Path pipe(".pipe");
  ASSERT_EQ(mkfifo(pipe.get().c_str(), 0600), 0);
  const auto open = [&](uint64_t most) {
    std::thread writer([&] { std::ofstream(pipe.get()) << std::string(1000, 'x'); });
    auto file = InputFile::Open(pipe.get(), most);
    writer.join();
    return file;
  };
  EXPECT_EQ(open(1000)->content().size(), 1000u);
  const auto beyond = open(999);
  EXPECT_THAT(beyond.status().message(), HasSubstr("holds more than 999 bytes"));
  EXPECT_THAT(beyond.status().message(), HasSubstr("write it into a file"));
}

// Files of /proc: regular, without a size, and perhaps without an end.
TEST(InputFileTest, FilesWithoutASizeAreReadToALimit) {
  EXPECT_GT(InputFile::Open("/proc/self/status")->content().size(), 10u);
  EXPECT_THAT(InputFile::Open("/proc/self/status", 10).status().message(),
              HasSubstr("holds more than 10 bytes"));
}

TEST(InputFileTest, AShrinkingFileIsReported) {
  const Path path(".shrinks");
  std::ofstream(path.get()) << std::string(100000, 'x');
  const auto file = InputFile::Open(path.get());
  EXPECT_FALSE(file->Shrank());
  ASSERT_EQ(truncate(path.get().c_str(), 99999), 0);
  EXPECT_TRUE(file->Shrank()) << "no page is gone, but a byte is";
  ASSERT_EQ(truncate(path.get().c_str(), 10), 0);
  EXPECT_EQ(file->content().back(), '\0');
  EXPECT_TRUE(file->Shrank());
}

}  // namespace
}  // namespace jtrace::postproc
