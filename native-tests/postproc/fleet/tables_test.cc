// --report=parquet: what the tables hold.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "native-tests/postproc/fleet/dataset_reader.h"
#include "native-tests/support/csv.h"
#include "native-tests/support/random_trace.h"
#include "native-tests/support/trace_builder.h"
#include "postproc/fleet/batch.h"
#include "postproc/fleet/schema.h"

namespace jtrace {
namespace {

using testing::DataRow;
using testing::Dataset;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::IsNull;
using testing::Number;
using testing::PathNames;
using testing::RunResult;
using testing::Text;
using testing::TraceBuilder;
using ::testing::UnorderedElementsAre;

// main: run() twice, in each go(int) three times, once from a lambda; two threads of a pool call
// go(int).
std::string SmallTrace(int64_t pid, const std::string& lambda, int calls = 3,
                       uint64_t file_begin_ns = 0) {
  TraceBuilder trace;
  proto::SessionStart& start = *trace.chunk().mutable_session_start();
  start.set_pid(pid);
  start.set_unix_time_ns(1'764'115'200'000'000'000);  // 2025-11-26
  start.set_file_begin_ns(file_begin_ns);
  start.set_host("web 1");
  start.set_command("shop.Main --port 80");
  start.set_interval_ns(1'000'000);
  const uint32_t a = trace.Class("shop.A");
  const uint32_t hidden = trace.Class(lambda);
  const uint32_t run = trace.Routine(a, "run", "()V");
  const uint32_t go = trace.Routine(a, "go", "(I)I");
  const uint32_t apply = trace.Routine(hidden, "apply", "()V");
  const uint32_t idle = trace.Routine(a, "idle", "()V");
  EXPECT_NE(idle, 0U);
  const uint32_t main = trace.Thread("main", 10);
  const uint32_t node = trace.Node(main, 0, run);
  trace.Count(main, node, 2);
  trace.Count(main, trace.Node(main, node, go), static_cast<uint64_t>(calls), 1);
  const uint32_t lambda_node = trace.Node(main, node, apply);
  trace.Count(main, lambda_node, 1);
  trace.Count(main, trace.Node(main, lambda_node, go), 1);
  for (const char* name : {"pool-1", "pool-2"}) {
    const uint32_t worker = trace.Thread(name, 20);
    trace.Count(worker, trace.Node(worker, 0, go), 5);
  }
  trace.chunk().mutable_session_end();
  return trace.Finish();
}

std::map<std::string, int64_t> CallsByPath(const Dataset& data) {
  const auto names = PathNames(data);
  std::map<std::string, int64_t> calls;
  for (const DataRow& row : data.Rows("nodes")) {
    calls[Text(row, "thread_group") + ": " +
          names.at({Number(row, "path_hi"), Number(row, "path_lo")})] += Number(row, "calls");
  }
  return calls;
}

TEST(FleetTablesTest, ThreadsOfAGroupShareANode) {
  const Dataset data("groups");
  const RunResult run = data.Convert({{"t.bin", SmallTrace(7, "shop.A$$Lambda$3/0x1f")}});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const std::map<std::string, int64_t> expected = {
      {"main: ", 0},
      {"main: shop.A.run()", 2},
      {"main: shop.A.run() > shop.A.go(int)", 3},
      {"main: shop.A.run() > shop.A$$Lambda.apply()", 1},
      {"main: shop.A.run() > shop.A$$Lambda.apply() > shop.A.go(int)", 1},
      {"pool-*: ", 0},
      {"pool-*: shop.A.go(int)", 10}};
  EXPECT_EQ(CallsByPath(data), expected);
}

TEST(FleetTablesTest, PartitionsComeFromTheTraceOrFromLabels) {
  const Dataset data("partitions");
  ASSERT_EQ(data.Convert({{"t.bin", SmallTrace(7, "shop.L")}}).exit_code, 0);
  EXPECT_THAT(data.Files("runs"),
              ElementsAre(HasSubstr("runs/service=shop.Main/day=2025-11-26/host=web%201/")));
  const Dataset labelled("labels");
  ASSERT_EQ(labelled
                .Convert({{"t.bin", SmallTrace(7, "shop.L")}},
                         {"--label=service=shop", "--label=host=h", "--label=version=1.4",
                          "--label=container=c1"})
                .exit_code,
            0);
  EXPECT_THAT(labelled.Files("nodes"),
              ElementsAre(HasSubstr("nodes/service=shop/day=2025-11-26/host=h/")));
  const DataRow row = labelled.Rows("runs").at(0);
  EXPECT_EQ(Text(row, "version"), "1.4");
  EXPECT_EQ(Text(row, "container"), "c1");
  EXPECT_EQ(Number(row, "pid"), 7);
  EXPECT_EQ(Number(row, "interval_ns"), 1'000'000);
  EXPECT_EQ(Number(row, "schema_version"), postproc::fleet::kSchemaVersion);
}

TEST(FleetTablesTest, LongAndOddNamesAreShortFolders) {
  const Dataset data("long");
  const std::string service = std::string(79, 's') + "\u00e4/../x";
  ASSERT_EQ(
      data.Convert({{"t.bin", SmallTrace(7, "shop.L")}}, {"--label=service=" + service}).exit_code,
      0);
  EXPECT_THAT(data.Files("runs"),
              ElementsAre(HasSubstr("runs/service=" + std::string(79, 's') + "/day=")));
  const Dataset above("above");
  ASSERT_EQ(above.Convert({{"t.bin", SmallTrace(7, "shop.L")}}, {"--label=service=../x"}).exit_code,
            0);
  EXPECT_THAT(above.Files("runs"), ElementsAre(HasSubstr("runs/service=..%2Fx/day=")));
}

// Lambda classes have other numbers in every JVM.
TEST(FleetTablesTest, PathsAreTheSameInEveryJvm) {
  const Dataset one("jvm1");
  const Dataset other("jvm2");
  ASSERT_EQ(one.Convert({{"t.bin", SmallTrace(7, "shop.A$$Lambda$3/0x1f")}}).exit_code, 0);
  ASSERT_EQ(other.Convert({{"u.bin", SmallTrace(8, "shop.A$$Lambda/0x00007f2b")}}).exit_code, 0);
  EXPECT_EQ(PathNames(one), PathNames(other));
}

TEST(FleetTablesTest, RunsOfAPartitionShareFilesRoutinesAndPaths) {
  const Dataset data("batch");
  ASSERT_EQ(
      data.Convert({{"t.bin", SmallTrace(7, "shop.L", 3)}, {"u.bin", SmallTrace(8, "shop.L", 4)}})
          .exit_code,
      0);
  EXPECT_EQ(data.Files("nodes").size(), 1U);
  EXPECT_EQ(data.Rows("runs").size(), 2U);
  EXPECT_EQ(data.Rows("routines").size(), 4U);
  EXPECT_EQ(data.Rows("paths").size(), 6U);  // the empty path, four of main, one of pool-*
  EXPECT_EQ(CallsByPath(data).at("main: shop.A.run() > shop.A.go(int)"), 7);
  // Rows of one path are neighbours, which makes the file small.
  const std::vector<DataRow> nodes = data.Rows("nodes");
  for (size_t i = 0; i < nodes.size(); i += 2) {
    EXPECT_EQ(Number(nodes[i], "path_lo"), Number(nodes[i + 1], "path_lo"));
    EXPECT_NE(Number(nodes[i], "run_id"), Number(nodes[i + 1], "run_id"));
  }
}

TEST(FleetTablesTest, TheSameRunAgainReplacesItsFiles) {
  const Dataset data("again");
  for (const int calls : {3, 4}) {
    ASSERT_EQ(data.Convert({{"t.bin", SmallTrace(7, "shop.L", calls)}}).exit_code, 0);
  }
  EXPECT_EQ(data.Files("nodes").size(), 1U);
  EXPECT_EQ(CallsByPath(data).at("main: shop.A.run() > shop.A.go(int)"), 4);
}

// They differ in nothing but when they begin, and the second one begins on another day.
TEST(FleetTablesTest, FilesOfALoopAreRunsOfTheirOwn) {
  const Dataset data("loop");
  constexpr uint64_t kTwoDays = 2 * uint64_t{86'400'000'000'000};
  ASSERT_EQ(data.Convert({{"1.bin", SmallTrace(7, "shop.L", 3)}}).exit_code, 0);
  ASSERT_EQ(data.Convert({{"2.bin", SmallTrace(7, "shop.L", 4, kTwoDays)}}).exit_code, 0);
  EXPECT_THAT(data.Files("runs"),
              ElementsAre(HasSubstr("day=2025-11-26"), HasSubstr("day=2025-11-28")));
  EXPECT_EQ(CallsByPath(data).at("main: shop.A.run() > shop.A.go(int)"), 7);
  std::set<int64_t> ids;
  for (const DataRow& row : data.Rows("runs")) ids.insert(Number(row, "run_id"));
  EXPECT_EQ(ids.size(), 2U);
}

TEST(FleetTablesTest, TwoTracesOfOneRunAreRejected) {
  const Dataset data("twice");
  const RunResult run =
      data.Convert({{"t.bin", SmallTrace(7, "shop.L")}, {"u.bin", SmallTrace(7, "shop.L")}});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("u.bin and t.bin are of one recording: convert one of them"));
  EXPECT_TRUE(data.Files("runs").empty());
}

TEST(FleetTablesTest, ProbedMethodsThatNeverRanAreRoutines) {
  const Dataset data("probed");
  ASSERT_EQ(data.Convert({{"t.bin", SmallTrace(7, "shop.L")}}).exit_code, 0);
  std::set<std::string> probed;
  for (const DataRow& row : data.Rows("routines")) {
    if (std::get<bool>(row.at("probed"))) probed.insert(Text(row, "routine"));
  }
  EXPECT_THAT(probed, UnorderedElementsAre("shop.A.run()", "shop.A.go(int)", "shop.L.apply()",
                                           "shop.A.idle()"));
}

// Recursion, a frame of the JDK between two in scope, and a tick in native code.
constexpr char kSampled[] =
    "# jtrace-text 1 unit=us\n#@\tscope\ta.A.run()\n#@\tscope\ta.B.go(int)\n"
    "#@\tsession\tinterval_ns\t1000000\n"
    "10\tmain\tenter\ta.A.run()\n"
    "11\tmain\tenter\ta.A.run()\n"
    "13\tmain\tenter\ta.B.go(int)\n"
    "17\tmain\texit\ta.B.go(int)\n"
    "18\tmain\texit\ta.A.run()\n"
    "19\tmain\tenter\ta.B.go(int)\n"
    "19\tmain\tsample.parked@a.Queue*2\tJ:a.A.run()\tJ:a.B.go(int)\tN:libc.so.6!write\n"
    "20\tmain\texit\ta.B.go(int)\n"
    "30\tmain\texit\ta.A.run()\n";

TEST(FleetTablesTest, FramesOutOfScopeAreTheirCallersAndStayInSamples) {
  const Dataset data("sampled");
  const RunResult run = data.Convert({{"t.jtxt", kSampled}});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto names = PathNames(data);
  std::map<std::string, std::vector<int64_t>> nodes;
  for (const DataRow& row : data.Rows("nodes")) {
    nodes[names.at({Number(row, "path_hi"), Number(row, "path_lo")})] = {
        Number(row, "calls"), Number(row, "base_ns"), Number(row, "cum_ns"),
        Number(row, "base_ticks"), Number(row, "cum_ticks")};
  }
  const std::map<std::string, std::vector<int64_t>> expected = {
      {"", {0, 0, 20000, 0, 2}},
      {"a.A.run()", {1, 12000, 20000, 0, 2}},
      {"a.A.run() > a.A.run()", {1, 3000, 7000, 0, 0}},
      {"a.A.run() > a.A.run() > a.B.go(int)", {1, 4000, 4000, 0, 0}},
      {"a.A.run() > a.B.go(int)", {1, 1000, 1000, 2, 2}}};
  EXPECT_EQ(nodes, expected);
  const std::vector<DataRow> samples = data.Rows("samples");
  ASSERT_EQ(samples.size(), 1U);
  EXPECT_EQ(names.at({Number(samples[0], "path_hi"), Number(samples[0], "path_lo")}),
            "a.A.run() > a.B.go(int)");
  EXPECT_EQ(Text(samples[0], "state"), "parked");
  EXPECT_EQ(Text(samples[0], "blocker"), "a.Queue");
  EXPECT_EQ(Text(samples[0], "module"), "libc.so.6");
  EXPECT_EQ(Number(samples[0], "ticks"), 2);
  std::map<int64_t, std::string> routines;
  for (const DataRow& row : data.Rows("routines"))
    routines[Number(row, "routine_id")] = Text(row, "routine");
  EXPECT_EQ(routines.at(Number(samples[0], "function_id")), "write");
}

// Rows are split by labels; their sums are those without labels.
TEST(FleetTablesTest, SamplesHaveTheLabelsOfTheirThreads) {
  const Dataset data("labelled");
  const RunResult run = data.Convert({{"t.jtxt",
                                       "# jtrace-text 1 unit=us\n#@\tscope\ta.A.run()\n"
                                       "0\tmain\tenter\ta.A.run()\n"
                                       "1\tmain\tsample*3\tJ:a.A.run()\n"
                                       "2\tmain\tlabels\ttenant=acme,kind=a\\\\,b\n"
                                       "2\tmain\tsample*4\tJ:a.A.run()\n"
                                       "3\tmain\tsample*5\tJ:a.A.run()\n"
                                       "9\tmain\texit\ta.A.run()\n"}});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  std::map<std::string, int64_t> ticks;
  for (const DataRow& row : data.Rows("samples")) {
    ticks[IsNull(row, "labels") ? "null" : Text(row, "labels")] = Number(row, "ticks");
  }
  EXPECT_EQ(ticks, (std::map<std::string, int64_t>{{"null", 3}, {"kind=a\\,b,tenant=acme", 9}}));
  for (const DataRow& row : data.Rows("nodes")) EXPECT_EQ(Number(row, "cum_ticks"), 12);
}

TEST(FleetTablesTest, ArcsDistinguishOutermostActivations) {
  const Dataset data("arcs");
  ASSERT_EQ(data.Convert({{"t.jtxt", kSampled}}).exit_code, 0);
  std::map<int64_t, std::string> routines;
  for (const DataRow& row : data.Rows("routines"))
    routines[Number(row, "routine_id")] = Text(row, "routine");
  std::set<std::string> arcs;
  for (const DataRow& row : data.Rows("arcs")) {
    arcs.insert((IsNull(row, "caller_id") ? "-" : routines.at(Number(row, "caller_id"))) + " > " +
                routines.at(Number(row, "callee_id")) +
                (std::get<bool>(row.at("outermost")) ? " outermost " : " recursive ") +
                std::to_string(Number(row, "calls")) + " " + std::to_string(Number(row, "cum_ns")));
  }
  EXPECT_THAT(arcs, UnorderedElementsAre("- > a.A.run() outermost 1 20000",
                                         "a.A.run() > a.A.run() recursive 1 7000",
                                         "a.A.run() > a.B.go(int) outermost 2 5000"));
}

// Reports distinguish routines of one name within a trace by result, packages of parameters, and
// loader; the names in tables do not.
std::string PlainName(std::string name) {
  const size_t loader = name.rfind(" [loader ");
  if (loader != std::string::npos && name.back() == ']') name.resize(loader);
  const size_t close = name.rfind(')');
  const size_t open = close == std::string::npos ? close : name.rfind('(', close);
  if (open == std::string::npos) return name;
  const std::string result = name.substr(close + 1);
  if (!result.empty() && (result[0] != ':' || result.find(' ') != std::string::npos)) return name;
  std::vector<std::string> parameters =
      absl::StrSplit(name.substr(open + 1, close - open - 1), ',');
  for (std::string& parameter : parameters) {
    parameter.erase(0, parameter.rfind('.') + 1);
  }
  return absl::StrCat(name.substr(0, open), "(", absl::StrJoin(parameters, ","), ")");
}

// A routine's sums over arcs, and its ticks over samples, are its row of the flat report.
TEST(FleetTablesTest, SumsAreThoseOfTheFlatReport) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    const std::string trace =
        seed % 2 == 0 ? testing::RandomTextTrace(seed) : testing::RandomBinaryTrace(seed);
    const Dataset data("random");
    const RunResult run = data.Convert({{"trace", trace}}, {"--no-files"});
    ASSERT_EQ(run.exit_code, 0) << "seed " << seed << ": " << run.err;
    std::map<int64_t, std::string> names;
    for (const DataRow& row : data.Rows("routines"))
      names[Number(row, "routine_id")] = Text(row, "routine");
    std::map<std::string, std::pair<int64_t, int64_t>> fleet;  // calls and ticks
    for (const DataRow& row : data.Rows("arcs")) {
      fleet[names.at(Number(row, "callee_id"))].first += Number(row, "calls");
    }
    for (const DataRow& row : data.Rows("samples")) {
      if (!IsNull(row, "function_id"))
        fleet[names.at(Number(row, "function_id"))].second += Number(row, "ticks");
    }
    std::map<std::string, std::pair<int64_t, int64_t>> flat;
    const testing::RunResult report = testing::RunPost(
        {"--report=flat", "--format=csv", "--no-files", "trace"}, {{"trace", trace}});
    for (const testing::CsvRow& row :
         testing::ParseCsv(report.out).Project({"name", "kind", "calls", "base_ticks"})) {
      if (row[1] == "thread") continue;
      auto& sums = flat[PlainName(row[0])];
      sums.first += std::stoll(row[2]);
      sums.second += std::stoll(row[3]);
    }
    std::erase_if(flat, [](const auto& it) { return it.second == std::pair<int64_t, int64_t>(); });
    std::erase_if(fleet, [](const auto& it) { return it.second == std::pair<int64_t, int64_t>(); });
    ASSERT_EQ(fleet, flat) << "seed " << seed;
  }
}

TEST(FleetTablesTest, OneIdOfTwoPathsOrRoutinesIsAnError) {
  using postproc::fleet::PathHash;
  postproc::fleet::Batch batch;
  bool is_new = false;
  const PathHash root;
  const PathHash path = root.Below("a.A.run()V");
  EXPECT_TRUE(batch.NotePath(path, root, 1, is_new).ok());
  EXPECT_TRUE(is_new);
  EXPECT_TRUE(batch.NotePath(path, root, 1, is_new).ok());
  EXPECT_FALSE(is_new);
  EXPECT_THAT(std::string(batch.NotePath(path, root, 2, is_new).message()),
              HasSubstr("two call paths have the id"));
  EXPECT_FALSE(batch.NotePath(path, path, 1, is_new).ok());
  EXPECT_TRUE(batch.NoteRoutine(1, "a.A.run()V").ok());
  EXPECT_TRUE(batch.NoteRoutine(1, "a.A.run()V").ok());
  EXPECT_THAT(std::string(batch.NoteRoutine(1, "a.B.go()V").message()),
              HasSubstr("two routines have the id 0000000000000001: a.A.run()V and a.B.go()V"));
}

TEST(FleetTablesTest, OptionsThatSelectAreRejected) {
  const Dataset data("options");
  const std::pair<std::vector<std::string>, std::string> cases[] = {
      {{"--top=3"}, "--top: the tables of --report=parquet have whole traces; leave it out"},
      {{"--thread=main"}, "--thread: the tables"},
      {{"--format=csv"}, "--format: the tables"},
      {{"--fail-on=coverage.lines<80%"}, "--fail-on: the tables"},
      {{"--report=flat"}, "--report=parquet is a folder by itself"},
      {{"--label=servce=x"}, "--label: 'servce' is unknown; nearest: service"},
      {{"--label=service"}, "--label: 'service' is not KEY=VALUE"}};
  for (const auto& [options, message] : cases) {
    const RunResult run = data.Convert({{"t.jtxt", kSampled}}, options);
    EXPECT_EQ(run.exit_code, 1);
    EXPECT_THAT(run.err, HasSubstr(message));
  }
  const RunResult without = testing::RunPost({"--report=parquet", "t"}, {{"t", kSampled}});
  EXPECT_THAT(without.err, HasSubstr("--report=parquet needs a folder: -o data"));
  const RunResult label = testing::RunPost({"--label=service=x", "t"}, {{"t", kSampled}});
  EXPECT_THAT(label.err, HasSubstr("--label needs --report=parquet, otlp or pprof"));
}

}  // namespace
}  // namespace jtrace
