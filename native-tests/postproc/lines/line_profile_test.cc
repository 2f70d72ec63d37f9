// Lines of several methods together, methods by name, and what follows: coverage.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "native-tests/support/line_reports.h"
#include "postproc/lines/coverage.h"
#include "postproc/lines/merged_lines.h"

namespace jtrace {
namespace {

using postproc::CountedFiles;
using postproc::CoverageBy;
using postproc::CoverageLevel;
using postproc::CoverageRow;
using postproc::CoverageTree;
using postproc::LineCounts;
using postproc::LineProfile;
using postproc::MergeLines;
using postproc::MethodLines;
using postproc::Methods;
using postproc::NamesMethod;
using postproc::SelectMethods;
using postproc::SourcePath;
using ::testing::ElementsAre;
using testing::Line;
using testing::Method;

TEST(SelectedMethodsTest, APatternIsAPartOfTheName) {
  const MethodLines run = Method("com.acme.Outer$Inner", "run(int,Object)", "Outer.java", 1, {});
  for (const char* pattern :
       {"com", "com.acme", "Outer", "com.acme.Outer", "Outer$Inner", "Inner", "Inner.run",
        "Inner::run", "run", "run(int,Object)", "com.acme.Outer$Inner.run(int,Object)", "com.*",
        "*.run", "*Inn?r*", "com.acme.Outer$Inner", "com.acme.Outer*"}) {
    EXPECT_TRUE(NamesMethod(pattern, run)) << pattern;
  }
  for (const char* pattern : {"Out", "uter", "acme.Inner", "run(int)", "*.walk", "Outer.*x", "ru",
                              "int", "Object", "com.acme.Outer.run", "?un"}) {
    EXPECT_FALSE(NamesMethod(pattern, run)) << pattern;
  }
}

TEST(MergedLinesTest, MethodsOfOneLineAddUp) {
  const MethodLines outer = Method("A", "run()", "A.java", 10, {Line(5, {10, 4}, 2, 1)});
  const MethodLines lambda = Method("A", "lambda$0()", "A.java", 70, {Line(5, {70}), Line(6, {0})});
  const std::vector<LineCounts> lines = MergeLines(Methods{&outer, &lambda});
  ASSERT_EQ(lines.size(), 2);
  EXPECT_EQ(lines[0].line, 5);
  EXPECT_EQ(lines[0].executions, 70);
  EXPECT_EQ(lines[0].instructions, 84);
  EXPECT_EQ(lines[0].branches, 2);
  EXPECT_EQ(lines[0].branches_taken, 1);
  EXPECT_EQ(lines[0].blocks.size(), 3);
  EXPECT_EQ(lines[1].executions, 0);
}

TEST(MergedLinesTest, OneMethodOfTwoLoadersIsOneMethod) {
  const MethodLines first = Method("A", "run()", "A.java", 10, {Line(5, {10, 4}, 2, 1)});
  const MethodLines second = Method("A", "run()", "A.java", 3, {Line(5, {3, 3}, 2, 2)});
  const std::vector<LineCounts> lines = MergeLines(Methods{&first, &second});
  ASSERT_EQ(lines.size(), 1);
  EXPECT_EQ(lines[0].executions, 13);
  EXPECT_EQ(lines[0].branches, 2);
  EXPECT_EQ(lines[0].branches_taken, 2);
  EXPECT_THAT(lines[0].blocks, ElementsAre(13, 7));
}

TEST(MergedLinesTest, AbsurdCountsStayAtTheGreatestNumber) {
  constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();
  EXPECT_EQ(postproc::AddCounts(kMost, 1), kMost);
  EXPECT_EQ(postproc::AddCounts(kMost - 1, 1), kMost);
  EXPECT_EQ(postproc::AddCounts(2, 3), 5);
}

TEST(MergedLinesTest, PathsStayBelowTheirFolder) {
  const auto path = [](const std::string& class_name, const std::string& file) {
    return SourcePath(Method(class_name, "run()", file, 1, {}));
  };
  EXPECT_EQ(path("com.acme.Outer$Inner", "Other.kt"), "com/acme/Other.kt");
  EXPECT_EQ(path("com.acme.Outer$Inner", ""), "com/acme/Outer.java");
  EXPECT_EQ(path("$Odd$1", ""), "$Odd.java");
  EXPECT_EQ(path("Top", "Top.java"), "Top.java");
  for (const char* file : {"../Top.java", "/etc/passwd", "..", ".", "a\\b", "a/b"}) {
    EXPECT_EQ(path("com.acme.Top", file), "") << file;
  }
  EXPECT_EQ(path("com.acme.Top", std::string("Top.java\0x", 10)), "");
  EXPECT_EQ(path("../../etc.passwd", ""), "");
  EXPECT_EQ(path("...x.A", "A.java"), "");
}

TEST(MergedLinesTest, FilesAreInTheOrderOfTheirPathsAndTheUnknownOneIsLast) {
  const MethodLines b = Method("b.B", "run()", "B.java", 1, {Line(1, {7})});
  const MethodLines a = Method("a.A", "run()", "A.java", 1, {Line(1, {1})});
  const MethodLines inner = Method("a.A$I", "run()", "A.java", 1, {Line(2, {1})});
  const MethodLines odd = Method("a.C", "run()", "../C.java", 1, {});
  const auto files = CountedFiles(Methods{&odd, &b, &a, &inner});
  ASSERT_EQ(files.size(), 3);
  EXPECT_EQ(files[0].path, "a/A.java");
  EXPECT_EQ(files[0].methods.size(), 2);
  EXPECT_EQ(files[0].lines.size(), 2);
  EXPECT_EQ(files[0].instructions, 2);
  EXPECT_EQ(files[1].path, "b/B.java");
  EXPECT_EQ(files[2].path, "");
}

// Random methods in few classes, files and lines, so that many share them.
LineProfile RandomProfile(uint32_t seed) {
  std::minstd_rand random(seed);
  const auto below = [&](uint32_t end) { return static_cast<uint32_t>(random() % end); };
  LineProfile profile;
  for (uint32_t i = 0; i < 30; ++i) {
    const std::string package = below(4) == 0 ? "" : "p" + std::to_string(below(3)) + ".";
    const std::string owner = package + "C" + std::to_string(below(3));
    std::vector<LineCounts> lines;
    for (int32_t number = 1 + static_cast<int32_t>(below(5)); number < 12 && below(5) > 0;
         number += 1 + static_cast<int32_t>(below(3))) {
      const uint32_t branches = 2 * below(3);
      lines.push_back(Line(number, {below(2) * below(100), below(2)}, branches,
                           branches == 0 ? 0 : below(branches + 1)));
    }
    profile.methods.push_back(Method(owner, "m" + std::to_string(i) + "()",
                                     owner.substr(package.size()) + ".java", below(2), lines));
  }
  return profile;
}

TEST(CoverageTest, EachLevelHasTheDistinctLinesOfItsMethods) {
  for (uint32_t seed = 0; seed < 50; ++seed) {
    const LineProfile profile = RandomProfile(seed);
    // Whether a line ran, by class and number, and by path and number: counted in another way.
    std::map<std::pair<std::string, int32_t>, bool> of_classes;
    std::map<std::pair<std::string, int32_t>, bool> of_files;
    for (const MethodLines& method : profile.methods) {
      for (const LineCounts& line : method.lines) {
        of_classes[{method.class_name, line.line}] |= line.executions > 0;
        of_files[{SourcePath(method), line.line}] |= line.executions > 0;
      }
    }
    int64_t class_total = 0;
    int64_t class_covered = 0;
    int64_t packages_total = 0;
    const std::vector<CoverageRow> rows =
        CoverageTree(SelectMethods(profile, ""), CoverageBy::kLines);
    for (const CoverageRow& row : rows) {
      ASSERT_LE(row.counted.covered, row.counted.total);
      if (row.level == CoverageLevel::kClass) class_total += row.counted.total;
      if (row.level == CoverageLevel::kClass) class_covered += row.counted.covered;
      if (row.level == CoverageLevel::kPackage) packages_total += row.counted.total;
    }
    const auto ran = [](const auto& lines) {
      return std::count_if(lines.begin(), lines.end(),
                           [](const auto& line) { return line.second; });
    };
    EXPECT_EQ(class_total, static_cast<int64_t>(of_classes.size()));
    EXPECT_EQ(class_covered, ran(of_classes));
    EXPECT_EQ(packages_total, static_cast<int64_t>(of_files.size()));
    EXPECT_EQ(rows[0].counted.total, packages_total);
    EXPECT_EQ(rows[0].counted.covered, ran(of_files));
    const CoverageRow all = CoverageOfAll(SelectMethods(profile, ""), CoverageBy::kLines);
    EXPECT_EQ(all.counted.covered, rows[0].counted.covered);
    EXPECT_EQ(all.methods_without_lines, rows[0].methods_without_lines);
  }
}

TEST(CoverageTest, BranchesOfEachLevelAreSums) {
  for (uint32_t seed = 0; seed < 50; ++seed) {
    const LineProfile profile = RandomProfile(seed);
    std::map<CoverageLevel, std::pair<int64_t, int64_t>> sums;
    std::map<CoverageLevel, int64_t> methods;
    for (const CoverageRow& row : CoverageTree(SelectMethods(profile, ""), CoverageBy::kBranches)) {
      sums[row.level].first += row.counted.total;
      sums[row.level].second += row.counted.covered;
      methods[row.level] += row.methods;
    }
    for (const auto& [level, sum] : sums) {
      EXPECT_EQ(sum, sums[CoverageLevel::kProgram]) << CoverageLevelName(level);
      EXPECT_EQ(methods[level], 30);
    }
  }
}

}  // namespace
}  // namespace jtrace
