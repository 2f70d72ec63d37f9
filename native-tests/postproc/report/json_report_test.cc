// JSON and CSV are two forms of the same table: their values are equal.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "common/json_writer.h"
#include "native-tests/support/csv.h"
#include "native-tests/support/run_post.h"
#include "postproc/report/table.h"

namespace jtrace {
namespace {

using nlohmann::json;
using testing::RunPost;
using testing::RunResult;

constexpr char kTrace[] =
    "# jtrace-text 1 unit=us\n"
    "0\tmain\tenter\tA(\"int\")\n1\tmain\tenter\tB\n2\tmain\tsample*3\tA(\"int\")\tB\tN:libc.so!"
    "read\n"
    "4\tmain\texit\tB\n5\tmain\texit\tA(\"int\")\n6\tmain\tmetric\tbytes\t12\n"
    "6\tmain\thook\tN:libc.so!read\ttime\t\tcalls=2,timed=1,total=9,min=9,max=9\tA(\"int\")\n"
    "6\tmain\tsegment-begin\t\"pay\"\n7\tmain\tsegment-end\t\"pay\"\n7\tmain\tsegment-"
    "begin\topen\n";

std::string ValueOf(const json& cell) {
  if (cell.is_null()) return "";
  if (cell.is_string()) return cell.get<std::string>();
  if (cell.is_number_integer()) return std::to_string(cell.get<int64_t>());
  std::ostringstream two_decimals;
  two_decimals.precision(2);
  two_decimals << std::fixed << cell.get<double>();
  return two_decimals.str();
}

TEST(JsonReportTest, HasTheValuesOfTheCsv) {
  for (const char* report :
       {"summary", "tree", "flat", "arcflow", "functions", "modules", "paths", "samples", "threads",
        "bythread", "metrics", "hooks", "segments", "findings"}) {
    const std::string option = std::string("--report=") + report;
    const RunResult csv = RunPost({option, "--format=csv", "trace"}, {{"trace", kTrace}});
    const RunResult text = RunPost({option, "--format=json", "trace"}, {{"trace", kTrace}});
    const json parsed = json::parse(text.out);
    EXPECT_EQ(parsed["report"], report);
    EXPECT_EQ(parsed["time_unit"], "us");
    const testing::Csv table = testing::ParseCsv(csv.out);
    ASSERT_EQ(parsed["rows"].size(), table.rows.size()) << report;
    for (size_t i = 0; i < table.rows.size(); ++i) {
      const json& row = parsed["rows"][i];
      ASSERT_EQ(row.size(), table.header.size()) << report;
      for (size_t j = 0; j < table.header.size(); ++j) {
        EXPECT_EQ(ValueOf(row[table.header[j]]), table.rows[i][j]) << report << " " << j;
      }
    }
  }
}

TEST(JsonReportTest, SeveralReportsAreAStreamOfValues) {
  const RunResult run =
      RunPost({"--report=tree,flat", "--format=json", "trace"}, {{"trace", kTrace}});
  std::istringstream in(run.out);
  json first;
  json second;
  in >> first >> second;
  EXPECT_EQ(first["report"], "tree");
  EXPECT_EQ(second["report"], "flat");
}

TEST(JsonReportTest, NamesWithInvalidUtf8StayReadable) {
  EXPECT_EQ(json::parse(JsonString("a\xff\"\n")).get<std::string>(), "a\xEF\xBF\xBD\"\n");
}

}  // namespace
}  // namespace jtrace
