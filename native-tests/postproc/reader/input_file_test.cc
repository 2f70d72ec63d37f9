#include "postproc/reader/input_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <string>

namespace jtrace::postproc {
namespace {

using ::testing::HasSubstr;

// A path that nothing stands at, and nothing is left at.
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

TEST(InputFileTest, DevicesAreNoTraces) {
  EXPECT_THAT(InputFile::Open("/dev/zero").status().message(),
              HasSubstr("/dev/zero is a device, not a trace"));
}

TEST(InputFileTest, ATraceNamesFilesOnly) {
  const Path pipe(".pipe");
  ASSERT_EQ(mkfifo(pipe.get().c_str(), 0600), 0) << "nobody will ever write to it";
  for (const std::string& path :
       {pipe.get(), std::string("/dev/zero"), std::string("/proc/self/pagemap"),
        std::string("/proc/self/maps"), testing::TempDir()}) {
    EXPECT_THAT(WhyNotRegular(path), HasSubstr("is not a file"));
  }
}

TEST(InputFileTest, NoModuleIsThatLarge) {
  const Path path(".large");
  std::ofstream(path.get()).close();
  ASSERT_EQ(truncate(path.get().c_str(), off_t{1} << 32), 0);
  EXPECT_THAT(WhyNotRegular(path.get()), HasSubstr("larger than any module"));
}

}  // namespace
}  // namespace jtrace::postproc
