// lines, coverage: tables and text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "common/visible_text.h"
#include "native-tests/support/csv.h"
#include "native-tests/support/line_reports.h"
#include "native-tests/support/run_post.h"

namespace jtrace {
namespace {

using postproc::LineProfile;
using testing::Csv;
using testing::CsvRow;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::Line;
using testing::LineReport;
using testing::Method;
using ::testing::Not;
using testing::ParseCsv;
using testing::RunPost;

LineProfile Small() {
  LineProfile profile;
  profile.methods = {
      Method("a.B", "run()", "B.java", 2, {Line(9, {2}), Line(10, {2, 1}, 2, 1)}),
      Method("a.B", "idle(int)", "B.java", 0, {Line(20, {0}), Line(21, {0}, 4, 0)}),
      Method("a.B", "bare()", "B.java", 5, {}),
      Method("a.b.C", "go()", "C.java", 1, {Line(3, {1000})}),
  };
  return profile;
}

TEST(LinesReportTest, HasARowForEachLineOfEachMethod) {
  const Csv csv = ParseCsv(LineReport(Small(), {"--report=lines", "--format=csv"}));
  EXPECT_THAT(csv.header,
              ElementsAre("class", "method", "line", "executions", "instructions", "cycles",
                          "branches", "branches_taken", "self_ticks", "file"));
  EXPECT_THAT(
      csv.rows,
      ElementsAre(
          CsvRow{"a.B", "idle(int)", "20", "0", "0", "0", "0", "0", "0", "a/B.java"},
          CsvRow{"a.B", "idle(int)", "21", "0", "0", "0", "4", "0", "0", "a/B.java"},
          CsvRow{"a.B", "run()", "9", "2", "2", "4", "0", "0", "0", "a/B.java"},
          CsvRow{"a.B", "run()", "10", "2", "3", "6", "2", "1", "0", "a/B.java"},
          CsvRow{"a.b.C", "go()", "3", "1000", "1000", "2000", "0", "0", "0", "a/b/C.java"}));
}

TEST(LinesReportTest, TextHasTheHottestLinesFirst) {
  EXPECT_EQ(LineReport(Small(), {"--report=lines", "--width=80"}),
            "3 of 5 lines ran (60.0 %); 1,005 bytecode instructions\n"
            "1 method without line numbers: not in these lines\n"
            "\n"
            "executions  instructions  branches  branches_taken  percent  line\n"
            "     1,000         1,000         0               0   99.5 %  a.b.C.go():3\n"
            "         2             3         2               1    0.3 %  a.B.run():10\n"
            "         2             2         0               0    0.2 %  a.B.run():9\n"
            "         0             0         0               0    0.0 %  a.B.idle(int):20\n"
            "         0             0         4               0    0.0 %  a.B.idle(int):21\n"
            "not shown at this width: cycles (--wide)\n");
  const std::string top = LineReport(Small(), {"--report=lines", "--top=1"});
  EXPECT_THAT(top, HasSubstr("a.b.C.go():3"));
  EXPECT_THAT(top, Not(HasSubstr("a.B.run()")));
  EXPECT_THAT(LineReport(Small(), {"--report=lines", "--sort=branches", "--top=1"}),
              HasSubstr("idle(int):21"));
}

TEST(LinesReportTest, NarrowsToWhatIsNamedAndToAShare) {
  const auto lines = [](const std::string& option) {
    std::string all;
    for (const CsvRow& row :
         ParseCsv(LineReport(Small(), {"--report=lines", "--format=csv", option})).rows) {
      all += row[1] + row[2] + " ";
    }
    return all;
  };
  EXPECT_EQ(lines("--of=a.b"), "go()3 ");
  EXPECT_EQ(lines("--of=B"), "idle(int)20 idle(int)21 run()9 run()10 ");
  EXPECT_EQ(lines("--of=B.run"), "run()9 run()10 ");
  EXPECT_EQ(lines("--of=*.go"), "go()3 ");
  EXPECT_EQ(lines("--filter=0.25"), "run()10 go()3 ");
  EXPECT_EQ(LineReport(Small(), {"--report=lines", "--of=a.b.D"}),
            "error: --of: no class or method 'a.b.D' has counts of lines; nearest: a.b.C");
}

TEST(LinesReportTest, SaysWhichMethodsWereNotCounted) {
  LineProfile profile = Small();
  profile.methods_not_counted = 1200;
  EXPECT_THAT(LineReport(profile, {"--report=lines"}),
              HasSubstr("\n1,200 methods in scope without counts of lines: not in these lines\n"));
}

TEST(LineReportsTest, WithoutCountsTheyNameTheRemedy) {
  for (const std::string report : {"lines", "coverage", "source"}) {
    const auto run = RunPost({"--report=" + report, "t"}, {{"t", testing::kNoCalls}});
    EXPECT_EQ(run.exit_code, 2) << report;
    EXPECT_EQ(run.out, "");
    EXPECT_EQ(run.err, "jtrace-post: there are no counts of lines: record with blocks=on\n");
  }
}

TEST(LineReportsTest, RejectOptionsThatTheyDoNotUse) {
  const auto error = [](std::vector<std::string> args) {
    args.emplace_back("t");
    const auto run = RunPost(args, {{"t", testing::kNoCalls}});
    return std::to_string(run.exit_code) + " " + run.err;
  };
  for (const std::string report : {"lines", "coverage", "source"}) {
    for (const std::string option : {"--thread=main", "--root=a.B.run", "--metric=calls"}) {
      if (report == "source" && option.starts_with("--metric")) continue;
      EXPECT_THAT(error({"--report=" + report, option}),
                  HasSubstr(": " + report + " does not use it; "))
          << option;
    }
  }
  EXPECT_THAT(error({"--report=coverage", "--filter=1"}), HasSubstr("1 jtrace-post: --filter: "));
  EXPECT_THAT(error({"--report=source", "--sort=count"}), HasSubstr("1 jtrace-post: --sort: "));
  EXPECT_THAT(error({"--report=lines", "--by=lines"}), HasSubstr("--by needs --report=coverage"));
  EXPECT_THAT(error({"--report=lines", "--blocks"}), HasSubstr("--blocks needs --report=source"));
  EXPECT_THAT(error({"--report=lines", "--source=."}), HasSubstr("--source needs --report=source"));
  EXPECT_THAT(error({"--report=coverage", "--by=line"}),
              HasSubstr("--by: 'line' is unknown; nearest: lines"));
  EXPECT_THAT(error({"--report=source", "--source=/nowhere"}),
              HasSubstr("2 jtrace-post: cannot open /nowhere"));
}

TEST(CoverageReportTest, HasEachLevel) {
  const Csv csv = ParseCsv(LineReport(Small(), {"--report=coverage", "--format=csv"}));
  EXPECT_THAT(csv.header,
              ElementsAre("level", "name", "total", "covered", "percent", "methods", "methods_run",
                          "methods_without_lines", "methods_never_loaded"));
  EXPECT_THAT(csv.rows,
              ElementsAre(CsvRow{"program", "[program]", "5", "3", "60.00", "4", "3", "1", "0"},
                          CsvRow{"package", "a", "4", "2", "50.00", "3", "2", "1", "0"},
                          CsvRow{"class", "a.B", "4", "2", "50.00", "3", "2", "1", "0"},
                          CsvRow{"method", "a.B.bare()", "0", "0", "", "1", "1", "1", "0"},
                          CsvRow{"method", "a.B.idle(int)", "2", "0", "0.00", "1", "0", "0", "0"},
                          CsvRow{"method", "a.B.run()", "2", "2", "100.00", "1", "1", "0", "0"},
                          CsvRow{"package", "a.b", "1", "1", "100.00", "1", "1", "0", "0"},
                          CsvRow{"class", "a.b.C", "1", "1", "100.00", "1", "1", "0", "0"},
                          CsvRow{"method", "a.b.C.go()", "1", "1", "100.00", "1", "1", "0", "0"}));
  const Csv branches =
      ParseCsv(LineReport(Small(), {"--report=coverage", "--by=branches", "--format=csv"}));
  EXPECT_THAT(branches.rows[0],
              ElementsAre("program", "[program]", "6", "1", "16.67", "4", "3", "1", "0"));
}

TEST(CoverageReportTest, TextIsATreeOfClasses) {
  EXPECT_EQ(LineReport(Small(), {"--report=coverage"}),
            "3 of 5 lines ran (60.0 %); 3 of 4 methods ran\n"
            "1 method without line numbers: not in these lines\n"
            "\n"
            "percent  covered  total  methods_run  methods  name\n"
            " 50.0 %        2      4            2        3  a\n"
            " 50.0 %        2      4            2        3    B\n"
            "100.0 %        1      1            1        1  a.b\n"
            "100.0 %        1      1            1        1    C\n");
  EXPECT_THAT(LineReport(Small(), {"--report=coverage", "--wide"}),
              HasSubstr("  0.0 %        0      2            0        1      idle(int)\n"));
  EXPECT_EQ(LineReport(Small(), {"--report=coverage", "--of=B.idle", "--by=branches"}),
            "0 of 4 branches taken (0.0 %); 0 of 1 method ran\n"
            "\n"
            "percent  covered  total  methods_run  methods  name\n"
            "  0.0 %        0      4            0        1  a\n"
            "  0.0 %        0      4            0        1    B\n"
            "  0.0 %        0      4            0        1      idle(int)\n");
}

TEST(CoverageReportTest, RowsOfAllLevelsCanBeSorted) {
  EXPECT_THAT(LineReport(Small(), {"--report=coverage", "--sort=total", "--top=1"}),
              HasSubstr("program      5        3   60.0 %"));
  EXPECT_THAT(LineReport(Small(), {"--report=coverage", "--top=1"}), HasSubstr("… 3 more\n"));
}

TEST(CoverageReportTest, ClassesWithoutAPackageHaveOne) {
  LineProfile profile;
  profile.methods = {Method("Main", "main(String[])", "Main.java", 1, {Line(1, {1})})};
  EXPECT_THAT(
      LineReport(profile, {"--report=coverage"}),
      HasSubstr("  [default package]\n100.0 %        1      1            1        1    Main\n"));
}

// Numbers in text have thousands separators, and names are whole without a limit of the width.
TEST(LineReportsTest, TextHasTheNumbersOfTheCsv) {
  const LineProfile profile = testing::PrimesProfile();
  const auto without_commas = [](std::string text) {
    std::erase(text, ',');
    return text;
  };
  const std::string lines = without_commas(LineReport(profile, {"--report=lines", "--width=0"}));
  const Csv csv = ParseCsv(LineReport(profile, {"--report=lines", "--format=csv"}));
  ASSERT_EQ(csv.rows.size(), 13);
  for (const CsvRow& row : csv.rows) {
    const std::string name = row[0] + "." + row[1] + ":" + row[2] + "\n";
    const size_t end = lines.find(name);
    ASSERT_NE(end, std::string::npos) << name;
    std::istringstream line(lines.substr(lines.rfind('\n', end) + 1));
    // Without samples, text has no column of their ticks.
    for (size_t i = 3; csv.header[i] != "self_ticks"; ++i) {
      std::string number;
      line >> number;
      EXPECT_EQ(number, row[i]) << name << csv.header[i];
    }
  }
  const std::string coverage = LineReport(profile, {"--report=coverage", "--wide", "--width=0"});
  const Csv levels = ParseCsv(LineReport(profile, {"--report=coverage", "--format=csv"}));
  for (const CsvRow& row : levels.rows) {
    if (row[0] == "program") continue;
    const size_t end = coverage.find(" " + row[1].substr(row[1].rfind('.') + 1) + "\n");
    ASSERT_NE(end, std::string::npos) << row[1];
    std::istringstream line(coverage.substr(coverage.rfind('\n', end) + 1));
    std::string percent;
    std::string sign;
    std::string covered;
    std::string total;
    line >> percent >> sign >> covered >> total;
    EXPECT_EQ(covered + "/" + total, row[3] + "/" + row[2]) << row[1];
  }
}

TEST(LineReportsTest, ATerminalObeysNoName) {
  LineProfile profile = Small();
  profile.methods.push_back(
      Method("p\x1b[2J.\u202E\n", "\r\xff()", "\u2028.java", 1, {Line(1, {5}), Line(2, {0})}));
  for (const std::string report : {"lines", "coverage", "source"}) {
    for (const char* width : {"--width=0", "--width=40"}) {
      const std::string text = LineReport(profile, {"--report=" + report, "--of=p*", width});
      EXPECT_EQ(VisibleLines(text), text) << report;
      EXPECT_THAT(text, Not(HasSubstr("error"))) << text;
    }
  }
}

}  // namespace
}  // namespace jtrace
