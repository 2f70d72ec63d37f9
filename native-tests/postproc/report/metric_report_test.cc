// --metric: the columns of each report, and how text shows them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "native-tests/support/run_post.h"
#include "postproc/model/metric_info.h"

namespace jtrace {
namespace {

using postproc::InfoOfMetric;
using postproc::MetricUnit;
using ::testing::AllOf;
using testing::CsvRow;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::ReportCsv;
using testing::RunPost;
using testing::RunResult;

const char kTrace[] =
    "# jtrace-text 1 unit=us\n"
    "0\tmain\tenter\tp.A.run()\n1\tmain\tmetric\talloc.bytes\t3145728\n"
    "1\tmain\tmetric\twait.ns\t1500000\n2\tmain\tenter\tp.B.work()\n"
    "3\tmain\tmetric\talloc.bytes\t1048576\n4\tmain\tmetric\tuser.hits\t1234\n"
    "5\tmain\tsample\tp.A.run()\tp.B.work()\n6\tmain\texit\tp.B.work()\n9\tmain\texit\tp.A.run()\n";

std::string Text(std::vector<std::string> args) {
  args.emplace_back("trace");
  const RunResult run = RunPost(args, {{"trace", kTrace}});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  return run.out;
}

std::string Header(std::vector<std::string> args) {
  const std::string csv = ReportCsv(kTrace, std::move(args));
  return csv.substr(0, csv.find('\n'));
}

// Of the thread, not of its methods.
TEST(MetricReportTest, ByThreadOnlyIsSaid) {
  const std::string trace =
      "# jtrace-text 1 unit=us\n0\tmain\tmetric\tio.read.bytes\t50\n"
      "0\tmain\tmetric\tgc.ns\t50\n1\tmain\tenter\tp.A.run()\n"
      "2\tmain\tmetric\tuser.hits\t5\n3\tmain\texit\tp.A.run()\n";
  const auto said = [&](const char* metric) {
    return RunPost({"--report=flat", metric, "trace"}, {{"trace", trace}}).err;
  };
  EXPECT_EQ(
      said("--metric=io.read.bytes"),
      "jtrace-post: note: io.read.bytes is known by thread only (--report=metrics); to record "
      "it by method: metrics=java.read.bytes\n");
  EXPECT_EQ(said("--metric=gc.ns"),
            "jtrace-post: note: gc.ns is known by thread only (--report=metrics)\n");
  EXPECT_EQ(said("--metric=user.hits"), "");
  EXPECT_EQ(said("--metric=time"), "");
}

// FORMATS' columns are first, as without --metric; the metric's last.
TEST(MetricReportTest, ItsColumnsFollowAllOthers) {
  const std::vector<std::pair<std::string, std::string>> reports = {
      {"tree", ",m.base,m.cum"},
      {"flat", ",m.base,m.cum,m.cum2"},
      {"arcflow", ",m.base,m.cum,m.cum2"},
      {"functions", ",m.base,m.base_pct"},
      {"function", ",m.base,m.cum,m.cum_pct"},
      {"classes", ",m.base"},
      {"paths", ""},
      {"callees", ""},
      {"callers", ""},
      {"threads", ""},
      {"bythread", ",m.base,m.cum,m.cum2"},
      {"graph", ""},
      {"summary", ""}};
  for (const auto& [report, more] : reports) {
    std::string columns = more;
    for (size_t at; (at = columns.find(",m.")) != std::string::npos;) {
      columns.replace(at, 3, ",alloc.bytes.");
    }
    const std::vector<std::string> args = {"--report=" + report, "--of=p.A.run"};
    std::vector<std::string> with = args;
    with.emplace_back("--metric=alloc.bytes");
    EXPECT_EQ(Header(with), Header(args) + columns) << report;
  }
}

TEST(MetricReportTest, CsvHeadersAreContracts) {
  EXPECT_EQ(Header({"--report=tree", "--metric=alloc.bytes"}),
            "thread,level,rl,calls,base,cum,elapsed,base_ticks,cum_ticks,samples,origin,name,"
            "calls_jitted,off,min_base,max_base,kind,cost,alloc.bytes.base,alloc.bytes.cum");
  EXPECT_EQ(Header({"--report=flat", "--metric=alloc.bytes"}),
            "calls,base,cum,cum2,elapsed,base_ticks,cum_ticks,cum2_ticks,samples,name,calls_jitted,"
            "min_base,max_base,kind,cost,outside_calls,outside_time,"
            "alloc.bytes.base,alloc.bytes.cum,alloc.bytes.cum2");
  EXPECT_EQ(Header({"--report=arcflow", "--metric=alloc.bytes"}),
            "self,row,calls,base,cum,cum2,base_ticks,cum_ticks,cum2_ticks,name,min_base,max_base,"
            "outside_calls,outside_time,alloc.bytes.base,alloc.bytes.cum,alloc.bytes.cum2");
  EXPECT_EQ(Header({"--report=metrics", "--metric=alloc.bytes"}), "routine,base,cum,cum2");
  EXPECT_THAT(Header({"--report=threads"}), HasSubstr(",samples,alloc.bytes,user.hits,wait.ns,"));
}

TEST(MetricReportTest, JsonIsUnrounded) {
  EXPECT_THAT(Text({"--report=flat", "--metric=alloc.bytes", "--format=json"}),
              HasSubstr("\"alloc.bytes.base\":3145728,\"alloc.bytes.cum\":4194304"));
}

TEST(MetricReportTest, TextScalesByTheUnit) {
  const std::string tree = Text({"--report=tree", "--metric=alloc.bytes"});
  EXPECT_THAT(tree, HasSubstr("call tree by alloc.bytes\n"));
  EXPECT_THAT(tree, HasSubstr("  25.0 %  1.00 MiB  1.00 MiB              1     └─ p.B.work()\n"));
  EXPECT_THAT(Text({"--report=tree", "--metric=wait.ns"}), HasSubstr("1.50 ms"));
  EXPECT_THAT(Text({"--report=flat", "--metric=wait.ns"}), HasSubstr("100.0 %  1.50 ms  1.50 ms"));
  EXPECT_THAT(Text({"--report=arcflow", "--metric=alloc.bytes"}),
              HasSubstr("              1   3.00 MiB   4.00 MiB  ● p.A.run()\n"));
  EXPECT_THAT(Text({"--report=graph", "--metric=alloc.bytes"}), HasSubstr("4.00 MiB"));
  EXPECT_THAT(Text({"--report=dot", "--metric=user.hits"}), HasSubstr("(1,234)"));
  EXPECT_THAT(Text({"--report=threads"}), HasSubstr("4.00 MiB"));
  EXPECT_THAT(Text({"--report=metrics"}), HasSubstr("1.50 ms"));
  EXPECT_THAT(Text({"--report=metrics", "--metric=alloc.bytes"}), HasSubstr("3.00 MiB"));
  EXPECT_THAT(Text({"--report=paths", "--metric=alloc.bytes"}), HasSubstr("path by alloc.bytes"));
  EXPECT_THAT(Text({"--report=callers", "--of=p.B.work", "--metric=alloc.bytes"}),
              HasSubstr("1.00 MiB"));
  EXPECT_THAT(Text({"--report=function", "--of=p.B.work", "--metric=alloc.bytes"}),
              HasSubstr("1.00 MiB"));
}

// Samples have no values of it: nodes that only samples saw are not in the tree.
TEST(MetricReportTest, TreesByAMetricHaveNoSampledFrames) {
  const std::string samples = std::string(kTrace) +
                              "10\tmain\tsample\tp.A.run()\tN:libc.so!malloc\n"
                              "10\tC2 CompilerThread0\tsample\tV:Compile()\n";
  const auto tree = [&](const std::string& metric) {
    return RunPost({"--report=tree", "--metric=" + metric, "t"}, {{"t", samples}}).out;
  };
  EXPECT_THAT(tree("ticks"), AllOf(HasSubstr("malloc"), HasSubstr("thread C2")));
  for (const char* metric : {"alloc.bytes", "calls", "time"}) {
    EXPECT_THAT(tree(metric), AllOf(HasSubstr("p.B.work()"), Not(HasSubstr("malloc")),
                                    Not(HasSubstr("thread C2"))))
        << metric;
  }
}

// With samples in the trace the tree is about ticks by default.
TEST(MetricReportTest, StandardMeasuresCanBeChosenToo) {
  EXPECT_THAT(Text({"--report=tree"}), HasSubstr("ticks"));
  const std::string by_time = Text({"--report=tree", "--metric=time"});
  EXPECT_THAT(by_time, HasSubstr("call tree by time"));
  EXPECT_THAT(by_time, HasSubstr("9.00 µs"));
  EXPECT_THAT(Text({"--report=flat", "--metric=calls"}), HasSubstr("routine by calls"));
}

TEST(MetricReportTest, TheOverviewIsAboutTheMetric) {
  const std::string overview = Text({"--metric=alloc.bytes"});
  EXPECT_THAT(overview, HasSubstr("call tree by alloc.bytes"));
  EXPECT_THAT(overview, HasSubstr("routine by alloc.bytes"));
  EXPECT_THAT(overview, HasSubstr("recursive by alloc.bytes"));
  EXPECT_THAT(overview, HasSubstr("metrics     alloc.bytes 4.00 MiB allocated in the heap\n"
                                  "            user.hits 1,234\n"
                                  "            wait.ns 1.50 ms\n"));
}

TEST(OverviewTest, ManyEqualThreadsSuggestOneTree) {
  const auto overview = [](int threads, const std::string& option) {
    std::string trace = "# jtrace-text 1 unit=us\n";
    for (int i = 0; i < threads; ++i) {
      // The names have no number: their threads do different work.
      const std::string thread = "\t" + std::string(static_cast<size_t>(i + 1), 't') + "\t";
      trace += "0" + thread + "enter\tA\n9" + thread + "exit\tA\n";
    }
    return RunPost({"trace", option}, {{"trace", trace}}).out;
  };
  const std::string hint = "none of the 30 threads has 5 % of the whole: --aggregate=process";
  EXPECT_THAT(overview(30, "--width=0"), HasSubstr(hint));
  EXPECT_THAT(overview(30, "--aggregate=process"), Not(HasSubstr("none of the")));
  EXPECT_THAT(overview(3, "--width=0"), Not(HasSubstr("none of the")));
}

// Text traces do not say what kind of call an `enter` is.
TEST(SummaryTest, CallsOfNoKindAreNotBoundaryCalls) {
  const std::string trace = "# jtrace-text 1 unit=us\n0\tm\tenter\tA\n1\tm\tenter.j\tB\n";
  const std::string text = RunPost({"--report=summary", "trace"}, {{"trace", trace}}).out;
  EXPECT_THAT(text, HasSubstr("1 call of unknown kind · 1 compiled call (0x50/0x10)"));
  EXPECT_THAT(text, Not(HasSubstr("boundary")));
}

TEST(MetricReportTest, SiblingsAreSortedByIt) {
  const std::string trace =
      "# jtrace-text 1 unit=us\n0\tm\tenter\tSlow\n9\tm\texit\tSlow\n9\tm\tenter\tFat\n"
      "9\tm\tmetric\tb\t-2\n10\tm\texit\tFat\n10\tm\tenter\tThin\n10\tm\tmetric\tb\t7\n"
      "11\tm\texit\tThin\n";
  const auto names = [&](std::vector<std::string> args) {
    args.emplace_back("--report=tree");
    std::string text;
    for (const CsvRow& row : testing::ParseCsv(ReportCsv(trace, args)).Project({"name"})) {
      text += row[0] + " ";
    }
    return text;
  };
  EXPECT_EQ(names({}), "m Slow Fat Thin ");
  EXPECT_EQ(names({"--metric=b"}), "m Thin Slow Fat ");
  EXPECT_EQ(names({"--metric=b", "--sort=b.base"}), "m Thin Slow Fat ");
  EXPECT_EQ(names({"--metric=b", "--sort=calls"}), "m Slow Fat Thin ");
  EXPECT_EQ(names({"--metric=b", "--filter=50"}), "m Thin ");
  EXPECT_THAT(ReportCsv(trace, {"--report=tree", "--sort=b.base"}), HasSubstr("no column"));
}

TEST(MetricReportTest, ARejectionSaysWhereTheMetricIs) {
  for (const std::string report :
       {"html", "modules", "samples", "waits", "segments", "jit", "never", "findings"}) {
    const RunResult run =
        RunPost({"--report=" + report, "--metric=alloc.bytes", "trace"}, {{"trace", kTrace}});
    EXPECT_EQ(run.exit_code, 1) << report;
    EXPECT_THAT(run.err, HasSubstr("--metric: " + report + " does not use it; ")) << report;
  }
}

TEST(MetricInfoTest, UnitsComeFromOneTable) {
  EXPECT_EQ(InfoOfMetric("alloc.bytes").unit, MetricUnit::kBytes);
  EXPECT_EQ(InfoOfMetric("monitor.wait.ns").unit, MetricUnit::kNanoseconds);
  EXPECT_EQ(InfoOfMetric("alloc.objects").unit, MetricUnit::kCount);
  EXPECT_EQ(InfoOfMetric("net.bytes").unit, MetricUnit::kBytes);
  EXPECT_EQ(InfoOfMetric("lock.ns").unit, MetricUnit::kNanoseconds);
  EXPECT_EQ(InfoOfMetric("user.cache.bytes").unit, MetricUnit::kCount);
  EXPECT_EQ(InfoOfMetric("bytes").unit, MetricUnit::kCount);
  EXPECT_EQ(InfoOfMetric("").unit, MetricUnit::kCount);
}

// The rule of endings agrees with the table, so that older readers do too.
TEST(MetricInfoTest, NamesEndInTheirUnits) {
  for (const postproc::MetricInfo& known : postproc::KnownMetrics()) {
    EXPECT_EQ(known.unit == MetricUnit::kBytes, known.name.ends_with(".bytes")) << known.name;
    EXPECT_EQ(known.unit == MetricUnit::kNanoseconds, known.name.ends_with(".ns")) << known.name;
    EXPECT_FALSE(known.what.empty()) << known.name;
  }
}

}  // namespace
}  // namespace jtrace
