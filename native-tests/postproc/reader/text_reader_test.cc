#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "native-tests/support/csv.h"
#include "native-tests/support/run_post.h"

namespace jtrace {
namespace {

using testing::CsvRow;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::RunPost;
using testing::RunResult;

constexpr char kHeader[] = "# jtrace-text 1 unit=us\n";

RunResult Tree(const std::string& lines) {
  return RunPost({"--report=tree", "--format=csv", "t"}, {{"t", kHeader + lines}});
}

std::vector<CsvRow> Rows(const RunResult& result, const CsvRow& columns) {
  return testing::ParseCsv(result.out).Project(columns);
}

TEST(TextReaderTest, UnknownOpsAreReportedByLineAndSkipped) {
  const RunResult result = Tree("0\tT\tenter\tA\n# comment\n1\tT\tfrobnicate\tx\n2\tT\texit\tA\n");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.err, HasSubstr("t:4: unknown op 'frobnicate', skipped"));
  EXPECT_THAT(result.err, HasSubstr("1 line with an unknown op"));
  EXPECT_THAT(Rows(result, {"cum", "name"}), ElementsAre(CsvRow{"2", "T"}, CsvRow{"2", "A"}));
}

TEST(TextReaderTest, MalformedLinesAreReportedAndSkipped) {
  for (const std::string line :
       {"x\tT\tenter\tA", "1\tT", "1", "1\tT\tenter", "1\tT\tsample*x\tA", "1\tT\tsample*-1\tA",
        "1\tT\tsample.dreaming\tA", "1\tT\tsample.parked@a.B\tA", "1\tT\tsample.parked@a.B*x\tA",
        "1\tT\tsample-at\t3\tA\tB", "1\tT\tsample-at\tx", "1\tT\tnode\tcalls\tA",
        "1\tT\tnode\tcalls=x\tA", "1\tT\tmetric\tm", "1\tT\tmetric\tm\tx", "1 \tT\ton",
        "99999999999999999999\tT\ton"}) {
    const RunResult result = Tree(line + "\n");
    EXPECT_EQ(result.exit_code, 0) << line;
    EXPECT_THAT(result.err, HasSubstr("1 malformed line")) << line;
    EXPECT_TRUE(Rows(result, {"name"}).empty()) << line;
  }
}

// Sums of absurd weights wrap, as all others do; the sanitizer reports those that do not.
TEST(TextReaderTest, EveryReportAcceptsAbsurdWeights) {
  const std::string weight = "*1000000000000000000";
  std::string lines;
  for (int i = 0; i < 10; ++i) {
    lines += "1\tT\tsample.parked" + weight + "\tA\n2\tT\tsample" + weight + "\n";
  }
  for (const std::string format : {"--format=csv", "--format=text"}) {
    const RunResult result =
        RunPost({"--report=summary,functions,modules,samples,paths,threads", format, "t"},
                {{"t", kHeader + lines}});
    EXPECT_EQ(result.exit_code, 0) << result.err;
  }
  const RunResult threads =
      RunPost({"--report=threads", "--format=csv", "t"}, {{"t", kHeader + lines}});
  const std::string wrapped = "-8446744073709551616";  // 10^19 - 2^64
  EXPECT_THAT(Rows(threads, {"running", "parked"}), ElementsAre(CsvRow{wrapped, wrapped}));
}

TEST(TextReaderTest, SamplesShowWhatTheThreadDid) {
  const std::string lines =
      "0\tT\tmonitor-wait\tjava.lang.Object\n"
      "1\tT\tsample.object-wait*4\tJ:app.Main.run()\tJ:java.lang.Object.wait(long)\tN:futex\n"
      "2\tT\tmonitor-waited\tjava.lang.Object\n"
      "3\tT\tsample-at.parked*2\t1\tapp.Main.run()\tJ:app.Main.run()\tJ:java.util.X.park()\n"
      "4\tT\tsample\tJ:app.Main.run()\n"
      "5\tU\tsample.blocked\tN:poll\n";
  const RunResult waits =
      RunPost({"--report=waits", "--format=csv", "t"}, {{"t", kHeader + lines}});
  EXPECT_THAT(
      Rows(waits, {"state", "ticks", "percent", "on", "call", "site"}),
      ElementsAre(CsvRow{"object-wait", "4", "50.00", "java.lang.Object",
                         "java.lang.Object.wait(long)", "app.Main.run()"},
                  CsvRow{"parked", "2", "25.00", "", "java.util.X.park()", "app.Main.run()"},
                  CsvRow{"blocked", "1", "12.50", "", "poll", ""}));
  const RunResult threads =
      RunPost({"--report=threads", "--format=csv", "t"}, {{"t", kHeader + lines}});
  EXPECT_THAT(
      Rows(threads, {"thread", "ticks", "running", "object-wait", "parked", "blocked"}),
      ElementsAre(CsvRow{"T", "7", "1", "4", "2", "0"}, CsvRow{"U", "1", "0", "0", "0", "1"}));
  const RunResult summary = RunPost({"--report=summary", "t"}, {{"t", kHeader + lines}});
  EXPECT_THAT(summary.out, HasSubstr("states      12.5 % running · 50.0 % object-wait · 25.0 % "
                                     "parked · 12.5 % blocked"));
  const RunResult dump = RunPost({"--report=dump", "t"}, {{"t", kHeader + lines}});
  EXPECT_EQ(dump.out, kHeader + lines);
}

TEST(TextReaderTest, SamplesShowWhatTheThreadWaitsOn) {
  const std::string lines =
      "0\tT\tmonitor-wait\tjava.lang.Object\n"
      // The sample's own class has precedence; class names may contain nearly anything.
      "1\tT\tsample.object-wait@app.Queue*4\tJ:app.Main.run()\n"
      "2\tT\tsample-at.parked@a@b*c.D$*2\t1\tapp.Main.run()\tJ:app.Main.run()\n"
      "3\tT\tsample.parked@x\\ty*1\tJ:app.Main.run()\n"
      "4\tT\tsample.object-wait\tJ:app.Main.run()\n";
  const RunResult waits =
      RunPost({"--report=waits", "--format=csv", "t"}, {{"t", kHeader + lines}});
  EXPECT_EQ(waits.err, "");
  EXPECT_THAT(
      Rows(waits, {"state", "ticks", "on"}),
      ElementsAre(CsvRow{"object-wait", "4", "app.Queue"}, CsvRow{"parked", "2", "a@b*c.D$"},
                  CsvRow{"object-wait", "1", "java.lang.Object"}, CsvRow{"parked", "1", "x\ty"}));
  const RunResult samples =
      RunPost({"--report=samples", "--format=csv", "t"}, {{"t", kHeader + lines}});
  EXPECT_THAT(Rows(samples, {"time", "on"}),
              ElementsAre(CsvRow{"1", "app.Queue"}, CsvRow{"2", "a@b*c.D$"}, CsvRow{"3", "x\ty"},
                          CsvRow{"4", ""}));
  const RunResult dump = RunPost({"--report=dump", "t"}, {{"t", kHeader + lines}});
  EXPECT_EQ(dump.out, kHeader + lines);
}

TEST(TextReaderTest, EscapesMeanTabNewlineAndBackslash) {
  const RunResult result = Tree("0\ta\\tb\tenter\tx\\\\y\\nz\\q\n");
  EXPECT_THAT(Rows(result, {"thread", "name"}),
              ElementsAre(CsvRow{"a\tb", "a\tb"}, CsvRow{"a\tb", "x\\y\nz\\q"}));
}

TEST(TextReaderTest, EscapesMeanControlCharactersAndSurrogates) {
  const auto name = [](const std::string& field) {
    const std::string trace = "# jtrace-text 1 unit=us\n0\tt\tenter\t" + field + "\n";
    const auto rows = testing::Rows(trace, "flat", {"name"});
    return rows.size() == 2 ? rows[rows[0][0] == "t" ? 1 : 0][0] : "";
  };
  EXPECT_EQ(name(R"(a\x1b\x7F\x9b)"), "a\x1b\x7f\u009b");
  EXPECT_EQ(name(R"(\ud83dx\uDE00)"), "\xED\xA0\xBDx\xED\xB8\x80");
  EXPECT_EQ(name(R"(a\\x1b)"), R"(a\x1b)");
  for (const char* unknown : {R"(\q)", R"(\x1)", R"(\xg1)", R"(\u12)", R"(a\)", R"(\x-1)"}) {
    EXPECT_EQ(name(unknown), unknown);
  }
}

TEST(TextReaderTest, HeaderIsChecked) {
  const auto run = [](const std::string& content) { return RunPost({"t"}, {{"t", content}}); };
  EXPECT_EQ(run("# jtrace-text 2 unit=us\n").exit_code, 2);
  EXPECT_THAT(run("# jtrace-text 2 unit=us\n").err, HasSubstr("version 2"));
  EXPECT_EQ(run("# jtrace-text 1\n").exit_code, 2);
  EXPECT_EQ(run("# jtrace-text 1 unit=years\n").exit_code, 2);
  EXPECT_EQ(run("# jtrace-text 1 unit=ticks").exit_code, 0);
}

TEST(TextReaderTest, TracesOfDifferentUnitsDoNotMix) {
  const RunResult result =
      RunPost({"a", "b"}, {{"a", kHeader}, {"b", "# jtrace-text 1 unit=ns\n"}});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("its unit is ns"));
}

TEST(TextReaderTest, ThreadsOfSeveralTracesAreSeparate) {
  const RunResult result =
      RunPost({"--report=tree", "--format=csv", "a", "b"},
              {{"a", std::string(kHeader) + "0\tT\tenter\tA\n5\tT\texit\tA\n"},
               {"b", std::string(kHeader) + "0\tT\tenter\tA\n7\tT\texit\tA\n"}});
  EXPECT_THAT(Rows(result, {"level", "cum", "name"}),
              ElementsAre(CsvRow{"0", "5", "T"}, CsvRow{"1", "5", "A"}, CsvRow{"0", "7", "T"},
                          CsvRow{"1", "7", "A"}));
}

TEST(TextReaderTest, ClockStartsAtTheFirstRecordOfAnyOp) {
  const RunResult result =
      Tree("10\tT\tsample\tA\n15\tT\tenter\tA\n17\tT\tsample\tA\n20\tT\texit\tA\n99\tT\tsample\n");
  EXPECT_THAT(
      Rows(result, {"base", "cum", "name"}),
      ElementsAre(CsvRow{"5", "10", "T"}, CsvRow{"5", "5", "A"}, CsvRow{"0", "0", "[no_frames]"}));
}

TEST(TextReaderTest, TimeThatRunsBackCountsAsSimultaneous) {
  const RunResult result = Tree("10\tT\tenter\tA\n5\tT\texit\tA\n");
  EXPECT_THAT(result.err, HasSubstr("time runs back"));
  EXPECT_THAT(Rows(result, {"cum", "name"}), ElementsAre(CsvRow{"0", "T"}, CsvRow{"0", "A"}));
}

TEST(TextReaderTest, MetricsGoToTheCurrentNode) {
  const std::string trace = std::string(kHeader) +
                            "0\tT\tenter\tA\n0\tT\tmetric\talloc.bytes\t100\n"
                            "0\tT\tenter\tA\n0\tT\tmetric\talloc.bytes\t20\n"
                            "1\tT\tnode\talloc.bytes=3\tB\n";
  EXPECT_THAT(testing::ParseCsv(testing::ReportCsv(trace, {"--report=metrics"})).rows,
              ElementsAre(CsvRow{"T", "alloc.bytes", "bytes", "123"}));
  EXPECT_THAT(
      testing::ParseCsv(testing::ReportCsv(trace, {"--report=metrics", "--metric=alloc.bytes"}))
          .rows,
      ElementsAre(CsvRow{"T", "0", "123", "123"}, CsvRow{"A", "120", "120", "140"},
                  CsvRow{"B", "3", "3", "3"}));
}

// Commas separate a node's counts.
TEST(TextReaderTest, NamesOfMetricsMayHoldAnything) {
  const std::string trace = std::string(kHeader) +
                            "0\tT\tenter\tA\n0\tT\tmetric\ta,b\t100\n0\tT\tmetric\tx=y\t7\n"
                            "1\tT\tnode\tcalls=2,a\\,b=3,c\\\\=4,d\\t\\\\\\,=5\tB\n";
  const auto totals = [](const std::string& text) {
    return testing::ParseCsv(testing::ReportCsv(text, {"--report=metrics"}))
        .Project({"metric", "total"});
  };
  EXPECT_THAT(totals(trace), ElementsAre(CsvRow{"a,b", "103"}, CsvRow{"c\\", "4"},
                                         CsvRow{"d\t\\,", "5"}, CsvRow{"x=y", "7"}));
  const RunResult dump = RunPost({"--report=dump", "t"}, {{"t", trace}});
  EXPECT_EQ(totals(dump.out), totals(trace)) << dump.out;
}

// A node that a sample passes twice counts the sample once: X is an event's node below Y, and a
// pending frame of the outer chain.
TEST(TextReaderTest, ASampleCountsOnceANode) {
  const RunResult result = Tree("0\tT\tenter\tY\n0\tT\tenter\tX\n0\tT\tsample\tY\tX\tP\tX\tP\n");
  EXPECT_THAT(Rows(result, {"level", "samples", "base_ticks", "name"}),
              ElementsAre(CsvRow{"0", "0", "0", "T"}, CsvRow{"1", "0", "0", "Y"},
                          CsvRow{"2", "1", "0", "X"}, CsvRow{"3", "1", "1", "P"}));
}

}  // namespace
}  // namespace jtrace
