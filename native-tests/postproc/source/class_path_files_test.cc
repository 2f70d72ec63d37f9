// Class files in folders and jars.
#include "postproc/source/class_path_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "native-tests/support/zip_builder.h"

namespace jtrace::postproc {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ClassPathFilesTest : public ::testing::Test {
 protected:
  ClassPathFilesTest()
      : folder_(fs::path(::testing::TempDir()) /
                ("classes" +
                 std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()))) {
    fs::remove_all(folder_);
    for (const char* path : {"a/B.class", "a/B$1.class", "a/b.txt", "C.class", "module-info.class",
                             "a/package-info.class", "META-INF/versions/11/C.class"}) {
      fs::create_directories((folder_ / "in" / path).parent_path());
      std::ofstream(folder_ / "in" / path) << path;
    }
  }
  ~ClassPathFilesTest() override { fs::remove_all(folder_); }

  // The content of the files that were read.
  std::vector<std::string> Read(const std::vector<std::string>& places, int64_t release = 0) {
    std::vector<std::string> files;
    status_ = ReadClassFiles(
        places, release,
        [&](absl::Span<const uint8_t> bytes) { files.emplace_back(bytes.begin(), bytes.end()); },
        unreadable_);
    return files;
  }
  std::string Path(const char* name) const { return (folder_ / name).string(); }

  const fs::path folder_;
  absl::Status status_;
  uint64_t unreadable_ = 0;
};

TEST_F(ClassPathFilesTest, ReadsFoldersAndJars) {
  EXPECT_THAT(Read({Path("in")}), ElementsAre("C.class", "a/B$1.class", "a/B.class"));
  EXPECT_TRUE(status_.ok());
  const std::string pack = "cd " + Path("in") + " && python3 -m zipfile -c ../all.jar C.class a " +
                           "META-INF module-info.class";
  ASSERT_EQ(std::system(pack.c_str()), 0);
  EXPECT_THAT(Read({Path("all.jar"), Path("in/a")}),
              ::testing::UnorderedElementsAre("C.class", "a/B$1.class", "a/B.class", "a/B$1.class",
                                              "a/B.class"));
  EXPECT_EQ(unreadable_, 0u);
}

// As a JVM of that release loads them.
TEST_F(ClassPathFilesTest, OfAMultiReleaseJarTheVersionOfTheReleaseCounts) {
  testing::ZipBuilder classes;
  classes.Stored("a/B.class", "B").Stored("C.class", "C");
  for (const char* release : {"8", "9", "17", "21", "x"}) {
    classes.Stored("META-INF/versions/" + std::string(release) + "/a/B.class",
                   "B" + std::string(release));
  }
  classes.Stored("META-INF/versions/17/New.class", "New17")
      .Stored("META-INF/versions/17/module-info.class", "no")
      .Stored("META-INF/other/D.class", "no");
  const auto read = [&](const std::string& manifest, int64_t release) {
    testing::ZipBuilder jar = classes;
    jar.Deflated("META-INF/MANIFEST.MF", manifest);
    std::ofstream(folder_ / "multi.jar", std::ios::binary) << jar.Finish();
    return Read({Path("multi.jar")}, release);
  };
  const std::string multi = "Manifest-Version: 1.0\r\nMulti-Release: true\r\n\r\n";
  EXPECT_THAT(read(multi, 17), ElementsAre("B17", "C", "New17"));
  EXPECT_THAT(read(multi, 20), ElementsAre("B17", "C", "New17"));
  EXPECT_THAT(read(multi, 25), ElementsAre("B21", "C", "New17"));
  EXPECT_THAT(read(multi, 11), ElementsAre("B9", "C"));
  EXPECT_THAT(read(multi, 0), ElementsAre("B", "C")) << "the release is unknown";
  EXPECT_THAT(read("Manifest-Version: 1.0\n\nMulti-Release: true\n", 17), ElementsAre("B", "C"));
  EXPECT_THAT(read("Manifest-Version: 1.0\n", 17), ElementsAre("B", "C"));
}

TEST_F(ClassPathFilesTest, NamesAPlaceThatHasNone) {
  EXPECT_THAT(Read({Path("in/META-INF/versions/11/none")}), IsEmpty());
  EXPECT_THAT(std::string(status_.message()), HasSubstr("none"));
  EXPECT_THAT(std::string(status_.message()), HasSubstr("(--classes)"));
  fs::create_directories(folder_ / "empty");
  Read({Path("empty")});
  EXPECT_EQ(status_.message(),
            Path("empty") + " has no class file; --classes takes folders and jars of class files");
  std::ofstream(folder_ / "text.jar") << "text";
  Read({Path("text.jar")});
  EXPECT_THAT(std::string(status_.message()), HasSubstr("text.jar"));
}

}  // namespace
}  // namespace jtrace::postproc
