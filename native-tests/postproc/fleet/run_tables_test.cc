// --report=parquet: known answers of the tables that are not about calls.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "native-tests/postproc/fleet/dataset_reader.h"

namespace jtrace {
namespace {

using testing::DataRow;
using testing::Dataset;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::IsNull;
using testing::Number;
using testing::RunResult;
using testing::Text;

constexpr char kHead[] = "# jtrace-text 1 unit=us\n";

// Every column of each row of a table but the run, with "-" for null.
std::vector<std::string> Values(const Dataset& data, const std::string& table,
                                const std::vector<std::string>& columns) {
  std::vector<std::string> rows;
  for (const DataRow& row : data.Rows(table)) {
    std::string& text = rows.emplace_back();
    for (const std::string& column : columns) {
      const bool is_text = std::holds_alternative<std::string>(row.at(column));
      const std::string value = is_text ? Text(row, column) : std::to_string(Number(row, column));
      text += (text.empty() ? "" : " ") + (IsNull(row, column) ? "-" : value);
    }
  }
  return rows;
}

std::string TextTrace(const std::string& lines) { return kHead + lines; }

TEST(FleetRunTablesTest, AThreadHasItsCallsAndSamples) {
  const Dataset data("threads");
  const std::string trace = TextTrace(
      "1\tpool-1\tenter\ta.A.run()\n"
      "2\tpool-1\tsample*3\tJ:a.A.run()\n"
      "3\tpool-1\texit\ta.A.run()\n"
      "4\tpool-2\tenter\ta.A.run()\n"
      "5\tpool-2\texit\ta.A.run()\n"
      "6\tpool-2\tenter\ta.A.run()\n"
      "7\tpool-2\texit\ta.A.run()\n");
  ASSERT_EQ(data.Convert({{"t.jtxt", trace}}).exit_code, 0);
  EXPECT_THAT(Values(data, "threads",
                     {"thread_group", "thread", "tid", "threads", "calls", "samples", "ticks"}),
              ElementsAre("pool-* pool-1 - 1 1 1 3", "pool-* pool-2 - 1 2 0 0"));
}

TEST(FleetRunTablesTest, MetricsAreSumsByPath) {
  const Dataset data("metrics");
  const std::string trace = TextTrace(
      "#@\tscope\ta.A.run()\n"
      "1\tmain\tenter\ta.A.run()\n"
      "2\tmain\tmetric\talloc.bytes\t100\n"
      "3\tmain\tmetric\talloc.bytes\t20\n"
      "4\tmain\texit\ta.A.run()\n");
  ASSERT_EQ(data.Convert({{"t.jtxt", trace}}).exit_code, 0);
  EXPECT_THAT(Values(data, "metrics", {"thread_group", "metric", "unit", "value"}),
              ElementsAre("main alloc.bytes bytes 120"));
  const DataRow row = data.Rows("metrics").at(0);
  EXPECT_EQ(testing::PathNames(data).at({Number(row, "path_hi"), Number(row, "path_lo")}),
            "a.A.run()");
}

// Names that become one: methods and source are those of the class loaded last, which is neither
// the last name nor one that was only unloaded.
TEST(FleetRunTablesTest, ClassesOfOneNameAreOneRow) {
  const Dataset data("classes");
  const std::string trace = TextTrace(
      "10\tmain\tclass-load\ta.A$$Lambda/0x1\tmethods=2\t/lib/old.jar\n"
      "20\tmain\tclass-load\ta.A$$Lambda/0x3\tmethods=3\t/lib/mid.jar\n"
      "30\tmain\tclass-load\ta.A$$Lambda/0x2\tmethods=5\t/lib/new.jar\n"
      "40\tmain\tclass-unload\ta.A$$Lambda/0x0\n"
      "41\tmain\tclass-unload\ta.A$$Lambda/0x9\n"
      "42\tmain\tclass-unload\ta.B\n");
  ASSERT_EQ(data.Convert({{"t.jtxt", trace}}).exit_code, 0);
  EXPECT_THAT(
      Values(data, "classes", {"class", "methods", "loads", "unloads", "first_load_ns", "source"}),
      ElementsAre("a.A$$Lambda 5 3 2 10000 /lib/new.jar", "a.B - 0 1 - -"));
}

TEST(FleetRunTablesTest, LossesAreThoseOfTheTrace) {
  const Dataset data("losses");
  const std::string trace = TextTrace(
      "#@\tloss\tsamples.dropped\twarning\t3\tsamples were dropped\tmake buffer= larger\n"
      "#@\tloss\tclasses.late\tinfo\t1\ta class came late\t\n"
      "1\tmain\tenter\ta.A.run()\n");
  ASSERT_EQ(data.Convert({{"t.jtxt", trace}}).exit_code, 0);
  EXPECT_THAT(Values(data, "losses", {"loss", "severity", "losses", "what", "advice"}),
              ElementsAre("samples.dropped warning 3 samples were dropped make buffer= larger",
                          "classes.late info 1 a class came late -"));
}

// Times that no sum could hold are left out, and the user hears of it.
TEST(FleetRunTablesTest, AbsurdIntervalsAreLeftOut) {
  const Dataset data("absurd");
  const std::string trace = TextTrace(
      "#@\tsession\tinterval_ns\t4000000000000000000\n"
      "1\tmain\tenter\ta.A.run()\n"
      "2\tmain\tsample*30\tJ:a.A.run()\n"
      "3\tmain\texit\ta.A.run()\n");
  const RunResult run = data.Convert({{"t.jtxt", trace}});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("t.jtxt: its ticks of 4000000000000000000 ns are more than 292 "
                                 "years: its sampled times are left out"));
  EXPECT_TRUE(IsNull(data.Rows("runs").at(0), "interval_ns"));
}

// Nothing is left of a conversion that failed, which a repeat would not replace.
TEST(FleetRunTablesTest, AfterAnErrorNothingIsWritten) {
  const Dataset data("failed");
  const std::string one = TextTrace("1\tmain\tenter\ta.A.run()\n");
  const RunResult bad = data.Convert({{"a.jtxt", one}, {"b.jtxt", "no trace"}});
  EXPECT_EQ(bad.exit_code, 2) << bad.err;
  EXPECT_TRUE(data.Files("runs").empty());
  EXPECT_TRUE(data.Files("nodes").empty());
}

}  // namespace
}  // namespace jtrace
