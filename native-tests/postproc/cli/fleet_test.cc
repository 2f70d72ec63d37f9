// The command line of `jtrace fleet`, and its text.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "postproc/cli/fleet_answer.h"
#include "postproc/cli/fleet_command.h"
#include "postproc/cli/fleet_folder.h"
#include "postproc/cli/fleet_options.h"
#include "postproc/cli/fleet_trace.h"
#include "postproc/cli/own_files.h"
#include "postproc/duckdb/library.h"

namespace jtrace::control {
namespace {

using postproc::duckdb::Answer;
using ::testing::AllOf;
using ::testing::HasSubstr;

std::string Folder() {
  const auto folder = std::filesystem::path(::testing::TempDir()) / "data";
  std::filesystem::create_directories(folder / "runs/service=a/day=b/host=c");
  std::ofstream(folder / "runs/service=a/day=b/host=c/x.parquet") << "x";
  return folder.string();
}

std::string Wrong(const std::string& query, const std::vector<std::string>& rest) {
  return std::string(ReadFleetOptions(query, rest).status().message());
}

TEST(FleetOptionsTest, ReadsThem) {
  const auto options = ReadFleetOptions(
      "diff", {"--data=" + Folder(), "--before=day=2026-01-01", "--after=day=2026-01-02", "--top=7",
               "--service=shop", "--format=csv", "--filter=2.5", "--duckdb=/x/libduckdb.so"});
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->params.compare_by, "day");
  EXPECT_EQ(options->params.before, "2026-01-01");
  EXPECT_EQ(options->params.after, "2026-01-02");
  EXPECT_EQ(options->params.top, 7);
  EXPECT_EQ(options->params.percent, 2.5);
  EXPECT_EQ(options->filter.service, "shop");
  EXPECT_EQ(options->library, "/x/libduckdb.so");
  EXPECT_TRUE(options->as_csv);
}

TEST(FleetOptionsTest, ErrorsNameTheRemedy) {
  const std::string data = "--data=" + Folder();
  EXPECT_EQ(Wrong("tpo", {data}), "unknown query 'tpo'; nearest: top (see jtrace fleet --help)");
  EXPECT_THAT(Wrong("top", {}), HasSubstr("fleet top needs a folder of tables: --data=DIR"));
  EXPECT_THAT(Wrong("top", {"--data=/nowhere"}), HasSubstr("there is no folder /nowhere"));
  EXPECT_THAT(Wrong("top", {data, "--tpo=1"}), HasSubstr("nearest: --top"));
  EXPECT_THAT(Wrong("top", {data, "--top=0"}), HasSubstr("is not a number from 1"));
  EXPECT_EQ(Wrong("top", {data, "--top"}), "--top needs a value: --top=N");
  EXPECT_EQ(Wrong("top", {data, "--sql=1"}), "--sql takes no value");
  EXPECT_THAT(Wrong("top", {data, "more"}), HasSubstr("is not an option with a value"));
  EXPECT_THAT(Wrong("tree", {data, "--filter=101"}), HasSubstr("is not a percentage"));
  EXPECT_THAT(Wrong("callers", {data}), HasSubstr("--of=org.h2.Driver.connect"));
  EXPECT_THAT(Wrong("diff", {data}), HasSubstr("--before=version=1.3"));
  EXPECT_THAT(Wrong("diff", {data, "--before=version=1", "--after=day=2026-01-01"}),
              HasSubstr("both version= or both day="));
}

TEST(FleetCommandTest, WithoutDuckDbOneLineNamesTheRemedy) {
  CommandLine line;
  line.verb = "fleet";
  line.target = "top";
  line.rest = {"--data=" + Folder(), "--duckdb=/nowhere/libduckdb.so"};
  std::ostringstream out;
  std::ostringstream err;
  EXPECT_EQ(RunFleet(line, out, err), 2);
  const std::string message = err.str();
  EXPECT_THAT(message, AllOf(HasSubstr("/nowhere/libduckdb.so"), HasSubstr("scripts/fleet.sh"),
                             HasSubstr("--duckdb=PATH")));
  EXPECT_EQ(std::count(message.begin(), message.end(), '\n'), 1);
}

TEST(FleetCommandTest, SqlIsPrintedWithoutDuckDb) {
  CommandLine line;
  line.verb = "fleet";
  line.target = "top";
  line.rest = {"--data=" + Folder(), "--sql", "--duckdb=/nowhere/libduckdb.so"};
  std::ostringstream out;
  std::ostringstream err;
  EXPECT_EQ(RunFleet(line, out, err), 0);
  EXPECT_THAT(out.str(), AllOf(HasSubstr("CREATE VIEW params AS"), HasSubstr("CREATE VIEW runs AS"),
                               HasSubstr("ORDER BY c.place")));
}

// A typing error must not pass as "no rows".
TEST(FleetCommandTest, AServiceThatNoRunHasIsAnError) {
  namespace fs = std::filesystem;
  const fs::path data = fs::path(::testing::TempDir()) / "places";
  for (const char* place :
       {"service=shop/day=2026-01-01/host=web%201", "service=mail/day=2026-01-02/host=h"}) {
    fs::create_directories(data / "runs" / place);
    std::ofstream(data / "runs" / place / "x.parquet") << "x";
  }
  EXPECT_TRUE(CheckFolder(data, {}).ok());
  EXPECT_TRUE(CheckFolder(data, {"shop", "2026-01-01", "web 1"}).ok());
  EXPECT_EQ(std::string(CheckFolder(data, {"shpo", "", ""}).message()),
            "--service: no run has the service 'shpo'; nearest of 2: shop");
  EXPECT_EQ(std::string(CheckFolder(data, {"shop", "", "h"}).message()),
            "--host: no run of the service shop has the host 'h'; nearest of 1: web 1");
  EXPECT_THAT(std::string(CheckFolder(data / "none", {}).message()),
              HasSubstr("has no tables of runs"));
}

TEST(DuckDbLibraryTest, OnlyAbsolutePathsAreLoaded) {
  EXPECT_THAT(std::string(postproc::duckdb::LoadLibrary("libc.so.6").status().message()),
              HasSubstr("is not an absolute path"));
}

// Without /proc the program does not know where it is.
TEST(OwnFilesTest, NoLibraryIsTakenFromTheCurrentFolder) {
  namespace fs = std::filesystem;
  const fs::path before = fs::current_path();
  const fs::path top = fs::path(::testing::TempDir()) / "own";
  fs::create_directories(top / "bin");
  fs::create_directories(top / "lib/jtrace");
  std::ofstream(top / "lib/libjtrace.so") << "x";
  std::ofstream(top / "lib/jtrace/libduckdb.so") << "x";
  EXPECT_EQ(FindLibraryBeside(top / "bin"), fs::canonical(top / "lib/libjtrace.so"));
  EXPECT_EQ(FindDuckDbBeside(top / "bin"), fs::canonical(top / "lib/jtrace/libduckdb.so"));
  fs::current_path(top / "bin");
  EXPECT_EQ(FindLibraryBeside(""), "");
  EXPECT_EQ(FindDuckDbBeside(""), "");
  fs::current_path(before);
}

Answer TreeAnswer() {
  Answer answer;
  answer.columns = {"path_hi",    "path_lo",          "parent_hi", "parent_lo", "depth", "calls",
                    "sampled_ns", "sampled_total_ns", "self_ns",   "total_ns",  "runs",  "routine"};
  const auto add = [&](int64_t id, int64_t parent, int64_t calls, int64_t self, int64_t total,
                       const char* name) {
    answer.rows.push_back(
        {id, id, {}, {}, int64_t{0}, calls, self, total, {}, {}, int64_t{2}, std::string(name)});
    if (parent == 0) return;
    answer.rows.back()[2] = parent;
    answer.rows.back()[3] = parent;
  };
  add(1, 0, 0, 0, 10'000'000, "[all threads]");
  add(2, 1, 4, 1'000'000, 6'000'000, "a.A.run()");
  add(3, 1, 1, 4'000'000, 4'000'000, "a.C.other()");
  add(4, 2, 1234, 5'000'000, 5'000'000, "a.B.go(int)");
  return answer;
}

TEST(FleetAnswerTest, ATreeIsIndentedBelowItsParents) {
  std::ostringstream out;
  WriteAnswerText("tree", TreeAnswer(), 100, out);
  EXPECT_EQ(out.str(),
            " total %       self      total           calls   runs  routine\n"
            "   100.0          0    10.0 ms                      2  [all threads]\n"
            "    60.0    1.00 ms    6.00 ms               4      2    a.A.run()\n"
            "    50.0    5.00 ms    5.00 ms           1,234      2      a.B.go(int)\n"
            "    40.0    4.00 ms    4.00 ms               1      2    a.C.other()\n");
}

TEST(FleetAnswerTest, CsvHasEveryColumnAndDigit) {
  Answer answer;
  answer.columns = {"a", "b", "c", "d"};
  answer.rows = {{int64_t{-5}, 0.1, std::string("x,y"), {}}};
  std::ostringstream out;
  WriteAnswerCsv(answer, out);
  EXPECT_EQ(out.str(), "a,b,c,d\n-5,0.10000000000000001,\"x,y\",\n");
}

TEST(FleetAnswerTest, BrokenChecksAreNamed) {
  Answer answer;
  answer.columns = {"number", "holds", "checked", "broken"};
  answer.rows = {{int64_t{1}, std::string("calls are calls"), int64_t{20}, int64_t{3}},
                 {int64_t{2}, std::string("self is self"), int64_t{20}, int64_t{0}}};
  std::ostringstream out;
  EXPECT_EQ(WriteChecks(answer, 2, out), 1);
  EXPECT_EQ(out.str(), "does not hold in 3 of 20: calls are calls\n");
}

// main: run() calls go(int) 7 times; two ticks in write, below a frame that only samples saw.
TEST(FleetTraceTest, TheMergedTreeIsATextTrace) {
  Answer nodes;
  nodes.columns = {"thread_group", "path_hi", "path_lo", "parent_hi", "parent_lo", "depth", "calls",
                   "calls_jitted", "base_ns", "off_ns",  "routine",   "kind",      "probed"};
  const auto add = [&](int64_t id, int64_t depth, int64_t calls, const char* routine) {
    nodes.rows.push_back({std::string("main"),
                          id,
                          id,
                          id - 1,
                          id - 1,
                          depth,
                          calls,
                          int64_t{0},
                          {},
                          {},
                          std::string(routine),
                          std::string("method"),
                          int64_t{calls != 0}});
  };
  add(1, 0, 0, "");
  add(2, 1, 1, "a.A.run()");
  add(3, 2, 7, "a.B.go(int)");
  add(4, 3, 0, "a.C.seen()");
  Answer samples;
  samples.columns = {"thread_group", "path_hi", "path_lo", "state",      "function",
                     "owner",        "module",  "ticks",   "interval_ns"};
  samples.rows = {
      {std::string("main"), int64_t{4}, int64_t{4}, std::string("parked"), std::string("write"),
       std::string("native"), std::string("libc.so.6"), int64_t{2}, int64_t{1000}},
      {std::string("main"), int64_t{3}, int64_t{3}, std::string("running"),
       std::string("a.B.go(int)"), std::string("program"), std::string("[java]"), int64_t{5},
       int64_t{1000}}};
  std::ostringstream out;
  WriteMergedTrace(nodes, samples, out);
  EXPECT_EQ(out.str(),
            "# jtrace-text 1 unit=ns\n#@\tsession\tinterval_ns\t1000\n"
            "#@\tscope\ta.A.run()\n#@\tscope\ta.B.go(int)\n"
            "0\tmain\tnode\tcalls=1\ta.A.run()\n"
            "0\tmain\tnode\tcalls=7\ta.A.run()\ta.B.go(int)\n"
            "0\tmain\tsample-at.parked*2\t2\ta.A.run()\ta.B.go(int)\tC:a.A.run()\tC:a.B.go(int)\t"
            "C:a.C.seen()\tN:libc.so.6!write\n"
            "0\tmain\tsample-at*5\t2\ta.A.run()\ta.B.go(int)\tC:a.A.run()\tC:a.B.go(int)\n");
}

// The layout is that of duckdb_string_t.
TEST(DuckDbTest, TextsAreInPlaceOrElsewhere) {
  postproc::duckdb::TextValue value;
  value.length = 12;
  std::memcpy(value.inlined, "twelve bytes", 12);
  EXPECT_EQ(value.text(), "twelve bytes");
  const char* const longer = "thirteen byte";
  value.length = 13;
  std::memcpy(value.inlined, longer, 4);
  std::memcpy(value.inlined + 4, &longer, sizeof longer);
  EXPECT_EQ(value.text(), "thirteen byte");
}

}  // namespace
}  // namespace jtrace::control
