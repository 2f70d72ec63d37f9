// --source: folders, layouts of Maven and Gradle, archives.
#include "postproc/source/source_finder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "native-tests/support/zip_builder.h"

namespace jtrace {
namespace {

namespace fs = std::filesystem;
using postproc::FoundSource;
using postproc::SourceFinder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::ZipBuilder;

class SourceFinderTest : public ::testing::Test {
 protected:
  SourceFinderTest() : folder_(fs::path(::testing::TempDir()) / ("sources" + Name())) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~SourceFinderTest() override { fs::remove_all(folder_); }

  static std::string Name() {
    return ::testing::UnitTest::GetInstance()->current_test_info()->name();
  }

  std::string Put(const std::string& path, const std::string& content) const {
    const fs::path file = folder_ / path;
    fs::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << content;
    return file.string();
  }

  // The first line of what is found; "none".
  static std::string First(const std::vector<std::string>& places, const std::string& path) {
    const absl::StatusOr<SourceFinder> finder = SourceFinder::Open(places);
    if (!finder.ok()) return "error: " + std::string(finder.status().message());
    const auto found = finder->Find(path);
    return found.has_value() ? found->lines.at(0) : "none";
  }

  const fs::path folder_;
};

TEST_F(SourceFinderTest, FilesOfKotlinAndScalaMayBeInAnyFolder) {
  Put("src/main/kotlin/util/Util.kt", "package com.acme.util // here\n");
  Put("src/main/kotlin/other/Util.kt", "package com.other\n");
  Put("code/Deep.scala", "package com.acme;\nclass Deep\n");
  Put("code/None.kt", "fun main() {}\n");
  Put("code/Java.java", "package com.acme;\n");
  const std::string place = folder_.string();
  EXPECT_EQ(First({place}, "com/acme/util/Util.kt"), "package com.acme.util // here");
  EXPECT_EQ(First({place}, "com/other/Util.kt"), "package com.other");
  EXPECT_EQ(First({place}, "com/acme/Util.kt"), "none");
  EXPECT_EQ(First({place}, "com/acme/Deep.scala"), "package com.acme;");
  EXPECT_EQ(First({place}, "None.kt"), "fun main() {}");
  EXPECT_EQ(First({place}, "com/acme/Java.java"), "none");
}

TEST_F(SourceFinderTest, LooksInFoldersAndTheirLayouts) {
  Put("a/Top.java", "top");
  Put("src/main/java/a/Main.java", "main");
  Put("src/test/java/a/Tests.java", "tests");
  Put("src/main/kotlin/a/K.kt", "kotlin");
  Put("src/jmh/scala/a/S.scala", "scala");
  Put("core/src/main/java/a/Core.java", "core");
  const std::vector<std::string> places = {folder_.string()};
  EXPECT_EQ(First(places, "a/Top.java"), "top");
  EXPECT_EQ(First(places, "a/Main.java"), "main");
  EXPECT_EQ(First(places, "a/Tests.java"), "tests");
  EXPECT_EQ(First(places, "a/K.kt"), "kotlin");
  EXPECT_EQ(First(places, "a/S.scala"), "scala");
  EXPECT_EQ(First(places, "a/Core.java"), "core");
  EXPECT_EQ(First(places, "a/Other.java"), "none");
  EXPECT_EQ(First(places, "Top.java"), "none");
  EXPECT_EQ(First(places, ""), "none");
  EXPECT_EQ(First(places, "a"), "none");  // a folder
}

TEST_F(SourceFinderTest, LooksInArchives) {
  const std::string jar =
      Put("lib-sources.jar",
          ZipBuilder().Deflated("a/A.java", "in the jar").Stored("a/A.class", "code").Finish());
  const std::string jdk =
      Put("jdk.zip", ZipBuilder()
                         .Deflated("much/deeper/java/util/List.java", "another")
                         .Deflated("java.base/java/util/List.java", "of the JDK")
                         .Finish());
  EXPECT_EQ(First({jar}, "a/A.java"), "in the jar");
  EXPECT_EQ(First({jar}, "a/A.class"), "none");
  EXPECT_EQ(First({jdk}, "java/util/List.java"), "of the JDK");
  EXPECT_EQ(First({jdk}, "util/Map.java"), "none");
  // "til/List.java" does not begin with a whole name.
  EXPECT_EQ(First({jdk}, "til/List.java"), "none");
  // The archive of sources in a folder.
  EXPECT_EQ(First({folder_.string()}, "a/A.java"), "in the jar");
}

TEST_F(SourceFinderTest, TheFirstPlaceCounts) {
  const std::string jar = Put("x.jar", ZipBuilder().Stored("a/A.java", "jar").Finish());
  Put("one/a/A.java", "one");
  Put("two/a/A.java", "two");
  const std::string one = (folder_ / "one").string();
  const std::string two = (folder_ / "two").string();
  EXPECT_EQ(First({one, two}, "a/A.java"), "one");
  EXPECT_EQ(First({two, one, jar}, "a/A.java"), "two");
  EXPECT_EQ(First({jar, one}, "a/A.java"), "jar");
}

TEST_F(SourceFinderTest, ReportsPlacesThatCannotBeRead) {
  EXPECT_THAT(First({(folder_ / "none").string()}, "a"), HasSubstr("error: cannot open "));
  EXPECT_THAT(First({(folder_ / "none").string()}, "a"), HasSubstr("(--source)"));
  EXPECT_THAT(First({Put("text.jar", "text")}, "a"), HasSubstr("it is not a zip archive"));
}

TEST_F(SourceFinderTest, LinesHaveNoEnds) {
  Put("a/A.java", "one\r\n\r\n\tthree");
  const absl::StatusOr<SourceFinder> finder =
      SourceFinder::Open(std::vector<std::string>{folder_.string()});
  ASSERT_TRUE(finder.ok());
  const auto found = finder->Find("a/A.java");
  ASSERT_TRUE(found.has_value());
  EXPECT_THAT(found->lines, ElementsAre("one", "", "\tthree"));
  EXPECT_EQ(found->file, (folder_ / "a/A.java").string());
}

}  // namespace
}  // namespace jtrace
