// source: the annotated listing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "common/visible_text.h"
#include "native-tests/support/csv.h"
#include "native-tests/support/line_reports.h"

namespace jtrace {
namespace {

namespace fs = std::filesystem;
using postproc::LineProfile;
using testing::CsvRow;
using ::testing::HasSubstr;
using testing::Line;
using testing::LineReport;
using testing::Method;
using ::testing::Not;
using testing::ParseCsv;
using testing::PrimesProfile;
using testing::PrimesTrace;

class SourceReportTest : public ::testing::Test {
 protected:
  SourceReportTest()
      : folder_(fs::path(::testing::TempDir()) /
                ("listing" +
                 std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()))) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~SourceReportTest() override { fs::remove_all(folder_); }

  std::string Option() const { return "--source=" + folder_.string(); }

  void Put(const std::string& path, const std::string& content) const {
    const fs::path file = folder_ / path;
    fs::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << content;
  }

  const fs::path folder_;
};

// Counts, marks and callers as worked out by hand: 999 calls of prime, 169 of println.
constexpr char kPrimes[] =
    "primes/Primes.java  FOLDER/primes/Primes.java\n"
    "10 of 13 lines ran (76.9 %); 9 of 10 branches taken (90.0 %); 73,014 bytecode instructions; "
    "percent: of the "
    "method's cycles\n"
    "count percent   line  source\n"
    "                   1  package primes;\n"
    "                   2\n"
    "                   3  /** Prints the primes up to 1,000. */\n"
    "              *       primes.Primes.<init>(): never called\n"
    "    0         #    4  public class Primes {\n"
    "                   5    static boolean prime(int n) {\n"
    "              *       primes.Primes.prime(int): 999 calls, 61,342 instructions, 122,684 "
    "cycles; "
    "called "
    "by primes.Primes.main(String[]) 999\n"
    "5,456  62.3 % +    6      for (int d = 2; d * d <= n; d++) {  2/2\n"
    "              *       blocks: 999, 5,456, 4,457\n"
    "5,288  37.2 % +    7        if (n % d == 0) return false;     2/2\n"
    "              *       blocks: 5,288, 831\n"
    "                   8      }\n"
    "  168   0.5 % |    9      return true;\n"
    "                  10    }\n"
    "                  11\n"
    "                  12    static void usage() {\n"
    "              *       primes.Primes.usage(): never called\n"
    "    0         #   13      System.err.println(\"usage: Primes LIMIT\");\n"
    "    0         #   14    }\n"
    "                  15\n"
    "                  16    public static void main(String[] args) {\n"
    "              *       primes.Primes.main(String[]): 1 call, 11,672 instructions, 23,344 "
    "cycles\n"
    "              *         calls primes.Primes.prime(int) 999\n"
    "    1   0.0 % |   17      int count = 0;\n"
    "1,000  42.8 % +   18      for (int n = 2; n <= 1000; n++) {   2/2\n"
    "              *       blocks: 1, 1,000, 999\n"
    "  999  51.4 % +   19        if (n > 1 && prime(n)) {          3/4\n"
    "              *       blocks: 999, 999\n"
    "  168   4.3 % |   20          System.out.println(n);\n"
    "  168   1.4 % |   21          count++;\n"
    "                  22        }\n"
    "                  23      }\n"
    "    1   0.0 % |   24      System.out.println(count);\n"
    "    1   0.0 % |   25    }\n"
    "                  26  }\n";

TEST_F(SourceReportTest, AnnotatesEachLine) {
  Put("primes/Primes.java", testing::PrimesSource());
  std::string shown = LineReport(
      PrimesProfile(), {"--report=source", Option(), "--blocks", "--width=0"}, PrimesTrace());
  const size_t at = shown.find(folder_.string());
  ASSERT_NE(at, std::string::npos) << shown;
  EXPECT_EQ(shown.replace(at, folder_.string().size(), "FOLDER"), kPrimes);
  // Blocks only on request, and narrow lines.
  const std::string narrow =
      LineReport(PrimesProfile(), {"--report=source", Option(), "--width=40"}, PrimesTrace());
  EXPECT_THAT(narrow, Not(HasSubstr("blocks")));
  EXPECT_THAT(narrow, HasSubstr("5,456  62.3 % +    6      for (in…  2/2\n"));
  EXPECT_THAT(narrow, HasSubstr("    0         #   13      System.err.prin…\n"));
}

// The margin's number may be the cost of each line in place of nothing: cycles over all calls.
TEST_F(SourceReportTest, TheMarginHasCyclesOnRequest) {
  Put("primes/Primes.java", testing::PrimesSource());
  const std::string shown =
      LineReport(PrimesProfile(), {"--report=source", Option(), "--metric=cycles", "--width=0"},
                 PrimesTrace());
  EXPECT_THAT(shown, HasSubstr("count cycles percent   line  source\n"));
  EXPECT_THAT(shown, HasSubstr("    0                #    4  public class Primes {\n"));
  EXPECT_THAT(
      shown,
      HasSubstr("5,456 76,384  62.3 % +    6      for (int d = 2; d * d <= n; d++) {  2/2\n"));
  EXPECT_THAT(shown, HasSubstr("  168    672   0.5 % |    9      return true;\n"));
  // A method's cycles are those of its lines.
  EXPECT_EQ(76384 + 45628 + 672, 122684);
}

TEST_F(SourceReportTest, WithoutSourcesItShowsTheLinesWithCode) {
  const std::string text =
      LineReport(PrimesProfile(), {"--report=source", "--of=prime"}, PrimesTrace());
  EXPECT_THAT(text, HasSubstr("1 of 1 file without text: --source=FOLDER|JAR|ZIP says where the "
                              "sources are\n\nprimes/Primes.java\n"));
  EXPECT_THAT(
      text,
      HasSubstr(
          "\n5,456  62.3 % +    6    2/2\n5,288  37.2 % +    7    2/2\n  168   0.5 % |    9\n"));
  EXPECT_THAT(text, Not(HasSubstr("main(String[]): ")));
}

TEST_F(SourceReportTest, AMethodIsAPartOfItsFile) {
  Put("src/main/java/primes/Primes.java", testing::PrimesSource());
  const std::string text = LineReport(
      PrimesProfile(), {"--report=source", Option(), "--of=Primes.usage"}, PrimesTrace());
  EXPECT_THAT(text,
              HasSubstr("count percent   line  source\n"
                        "              *       primes.Primes.usage(): never called\n"
                        "    0         #   13      System.err.println(\"usage: Primes LIMIT\");\n"
                        "    0         #   14    }\n"));
  EXPECT_THAT(text, Not(HasSubstr("package primes")));
  EXPECT_THAT(text, HasSubstr("/src/main/java/primes/Primes.java\n"));
}

TEST_F(SourceReportTest, CsvHasTheLinesOfTheText) {
  Put("primes/Primes.java", testing::PrimesSource());
  const auto csv = ParseCsv(
      LineReport(PrimesProfile(), {"--report=source", Option(), "--format=csv"}, PrimesTrace()));
  EXPECT_EQ(csv.header, (CsvRow{"count", "mark", "line", "source", "file", "branches",
                                "branches_taken", "blocks", "self_ticks", "bci", "percent"}));
  ASSERT_EQ(csv.rows.size(), 26);
  EXPECT_EQ(csv.rows[0], (CsvRow{"", " ", "1", "package primes;", "primes/Primes.java", "", "", "",
                                 "", "", ""}));
  EXPECT_EQ(csv.rows[18], (CsvRow{"999", "+", "19", "      if (n > 1 && prime(n)) {",
                                  "primes/Primes.java", "4", "3", "999 999", "0", "", "51.35"}));
  // The listing has the same marks and counts.
  const std::string text =
      LineReport(PrimesProfile(), {"--report=source", Option(), "--width=0"}, PrimesTrace());
  for (const CsvRow& row : csv.rows) {
    std::string begin = row[1] + " " + std::string(4 - row[2].size(), ' ') + row[2];
    if (!row[3].empty()) begin += "  " + row[3];
    EXPECT_THAT(text, HasSubstr(begin));
  }
}

// By hand: run() has 10 + 90 ticks, the lambda on its second line 300 in all.
TEST_F(SourceReportTest, SharesAreOfTheMethodThatSpendsTheMostOnTheLine) {
  LineProfile profile;
  profile.methods = {Method("a.A", "run()", "A.java", 1, {Line(1, {1}), Line(2, {1})}),
                     Method("a.A", "lambda$run$0()", "A.java", 1, {Line(2, {1}), Line(3, {1})})};
  const auto ticks = [&](size_t method, size_t line, int64_t number) {
    profile.methods[method].lines[line].ticks = number;
  };
  ticks(0, 0, 10);
  ticks(0, 1, 90);
  ticks(1, 0, 225);
  ticks(1, 1, 75);
  const auto csv = ParseCsv(LineReport(profile, {"--report=source", "--format=csv"}));
  EXPECT_THAT(
      csv.Project({"line", "percent"}),
      ::testing::ElementsAre(CsvRow{"1", "10.00"}, CsvRow{"2", "75.00"}, CsvRow{"3", "25.00"}));
  const std::string text = LineReport(profile, {"--report=source"});
  EXPECT_THAT(text, HasSubstr("percent: of the method's self time\n"));
  const auto by_cycles =
      ParseCsv(LineReport(profile, {"--report=source", "--format=csv", "--metric=cycles"}));
  EXPECT_THAT(
      by_cycles.Project({"line", "percent"}),
      ::testing::ElementsAre(CsvRow{"1", "50.00"}, CsvRow{"2", "50.00"}, CsvRow{"3", "50.00"}));
}

TEST_F(SourceReportTest, FilesWithTheMostInstructionsAreFirst) {
  LineProfile profile;
  profile.methods = {Method("a.Cold", "run()", "Cold.java", 1, {Line(1, {1})}),
                     Method("a.Hot", "run()", "Hot.java", 1, {Line(1, {900})}),
                     Method("a.Hot$1", "run()", "Hot.java", 900, {Line(1, {900}), Line(2, {0})}),
                     Method("a.Warm", "run()", "Warm.java", 1, {Line(1, {1000})})};
  const std::string text = LineReport(profile, {"--report=source", "--top=2"});
  EXPECT_LT(text.find("a/Hot.java\n1 of 2 lines ran"), text.find("a/Warm.java\n"));
  EXPECT_THAT(text, HasSubstr("  900 100.0 % +    1\n    0         #    2\n"));
  EXPECT_THAT(text, Not(HasSubstr("a/Cold.java")));
  EXPECT_THAT(text, HasSubstr("\n… 1 more file\n"));
}

TEST_F(SourceReportTest, SaysThatASourceIsOfAnotherVersion) {
  Put("primes/Primes.java", "package primes;\nclass Primes {}\n");
  const std::string text =
      LineReport(PrimesProfile(), {"--report=source", Option()}, PrimesTrace());
  EXPECT_THAT(text, HasSubstr("\nline 25 was counted, and this source has 2 lines: it is "
                              "another version, or the number is one of inlined code (Kotlin)\n"));
  EXPECT_THAT(text, HasSubstr("                   2  class Primes {}\n"));
  EXPECT_THAT(text, HasSubstr("    1   0.0 % |   25\n"));
}

// Sources and names come from others.
TEST_F(SourceReportTest, NothingOfASourceIsObeyedByATerminal) {
  Put("a/Main.java", "\x1b[2J\u202E\ta\tb\r\n\xff\r\n");
  LineProfile profile;
  profile.methods = {
      Method("a.Main", "\x1b[2Jrun()", "Main.java", 1, {Line(1, {1, 2}), Line(2, {1})}),
      Method("a.\x1b[31mOther", "run()", "x\ny.java", 1, {Line(1, {1})}),
      Method("a.Outside", "run()", "../a/Main.java", 1, {Line(7, {1})})};
  for (const char* width : {"--width=0", "--width=30"}) {
    const std::string text = LineReport(profile, {"--report=source", Option(), "--blocks", width});
    EXPECT_EQ(VisibleLines(text), text);
    EXPECT_THAT(text, HasSubstr("[unknown file]\n"));
  }
  EXPECT_THAT(
      LineReport(profile, {"--report=source", Option(), "--width=0"}),
      HasSubstr("    2  75.0 % +    1  \\x1b[2J\\u202e   a   b\n    1  25.0 % |    2  \\xff\n"));
}

// Generated sources may be one line, and reading one takes no longer than the file is long.
TEST_F(SourceReportTest, LongLinesAreCut) {
  LineProfile profile;
  profile.methods = {Method("A", "a()", "A.java", 1, {Line(1, {1})})};
  std::string line = "é\tx";
  for (int i = 0; i < 1'000'000; ++i) line += i < 500'000 ? "\t" : "é";
  Put("A.java", line + "\n" + line.substr(line.find("éé")) + "\n");
  const std::string text = LineReport(profile, {"--report=source", Option(), "--width=40"});
  EXPECT_THAT(text, HasSubstr("1  é   x              …\n"));
  EXPECT_THAT(text, HasSubstr("2  ééééééééééééééééééé…\n"));
}

TEST_F(SourceReportTest, MethodsWithoutLineNumbersHaveNone) {
  LineProfile profile;
  profile.methods = {Method("a.Bare", "run()", "", 7, {})};
  EXPECT_THAT(LineReport(profile, {"--report=source"}), HasSubstr("a/Bare.java\nno lines; 0 "));
}

}  // namespace
}  // namespace jtrace
