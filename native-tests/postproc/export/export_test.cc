// Known answers of the exports, and the users' selections.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "native-tests/postproc/export/export_test_support.h"

namespace jtrace {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using testing::Export;
using ::testing::HasSubstr;
using testing::PathValues;
using testing::PprofFile;
using testing::RunPost;
using testing::RunResult;

// main: a.A.run (10 us, 2 calls) > b.B.work; samples in native code below; a metric.
constexpr char kTrace[] =
    "# jtrace-text 1 unit=us\n"
    "#@\tsession\tpid\t4711\n#@\tsession\thost\tbox\n#@\tsession\tcommand\tapp.jar x\n"
    "#@\tsession\tunix_time_ns\t1700000000000000000\n#@\tsession\tinterval_ns\t1000000\n"
    "0\tmain\tenter\ta.A.run(int)\n2\tmain\tenter\tb.B.work()\n"
    "3\tmain\tsample*4\ta.A.run(int)\tJ:b.B.work()\tN:libc.so.6!read\n"
    "5\tmain\tmetric\talloc.bytes\t64\n"
    "6\tmain\texit\tb.B.work()\n10\tmain\texit\ta.A.run(int)\n"
    "10\tmain\tenter\ta.A.run(int)\n10\tmain\texit\ta.A.run(int)\n"
    "1\tpool\tenter\tb.B.work()\n8\tpool\texit\tb.B.work()\n";

TEST(CollapsedTest, ShowsTicksUnlessAnotherMetricIsNamed) {
  EXPECT_EQ(Export(kTrace, "collapsed"), "main;a.A.run(int);b.B.work();read 4\n");
  EXPECT_EQ(Export(kTrace, "collapsed", {"--metric=calls"}),
            "main;a.A.run(int) 2\nmain;a.A.run(int);b.B.work() 1\npool;b.B.work() 1\n");
  EXPECT_EQ(Export(kTrace, "collapsed", {"--metric=time"}),
            "main;a.A.run(int) 6\nmain;a.A.run(int);b.B.work() 4\npool;b.B.work() 7\n");
  EXPECT_EQ(Export(kTrace, "collapsed", {"--metric=alloc.bytes"}),
            "main;a.A.run(int);b.B.work() 64\n");
}

TEST(CollapsedTest, ShowsTimeAndThenCallsWithoutSamples) {
  const std::string head = "# jtrace-text 1 unit=us\n";
  EXPECT_EQ(Export(head + "0\tm\tenter\tA\n3\tm\texit\tA\n", "collapsed"), "m;A 3\n");
  EXPECT_EQ(Export(head + "3\tm\tenter\tA\n3\tm\texit\tA\n", "collapsed"), "m;A 1\n");
  EXPECT_EQ(Export(head, "collapsed"), "");
}

TEST(CollapsedTest, NamesStayWithinTheirFieldAndLine) {
  EXPECT_EQ(Export("# jtrace-text 1 unit=us\n0\tm;1\tenter\tA\\nB;C D\n3\tm;1\texit\tA\\nB;C D\n",
                   "collapsed"),
            "m:1;A B:C D 3\n");
}

TEST(ExportTest, SelectionsOfReportsApply) {
  EXPECT_EQ(Export(kTrace, "collapsed", {"--metric=calls", "--thread=poo*"}),
            "pool;b.B.work() 1\n");
  EXPECT_EQ(Export(kTrace, "collapsed", {"--metric=calls", "--root=b.B.work"}),
            "main;b.B.work() 1\npool;b.B.work() 1\n");
  EXPECT_EQ(Export(kTrace, "collapsed", {"--metric=time", "--aggregate=process"}),
            "process 4711;a.A.run(int) 6\nprocess 4711;a.A.run(int);b.B.work() 4\n"
            "process 4711;b.B.work() 7\n");
  EXPECT_EQ(Export(kTrace, "collapsed", {"--scope=app"}), "main;a.A.run(int);b.B.work() 4\n");
  // Of 17 us, 4 are less than a third: b.B.work's are a.A.run's then.
  EXPECT_EQ(Export(kTrace, "collapsed", {"--metric=time", "--filter=33"}),
            "main;a.A.run(int) 10\npool;b.B.work() 7\n");
  EXPECT_EQ(Export(kTrace, "collapsed", {"--metric=time", "--top=2"}),
            "main;a.A.run(int) 10\npool 7\n");
}

TEST(ExportTest, AnUnknownMetricIsRejected) {
  for (const char* report : {"collapsed", "pprof", "speedscope", "callgrind"}) {
    const RunResult result =
        RunPost({std::string("--report=") + report, "--metric=off", "trace"}, {{"trace", kTrace}});
    EXPECT_NE(result.exit_code, 0);
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err, HasSubstr("--metric: no metric 'off' in the trace; nearest: "));
  }
}

// For servers that take them as jtrace ship sends them.
TEST(PprofTest, ShipIsGivenIdAndQuery) {
  const std::vector<std::string> args = {"--report=pprof", "--label=service=sh{op",
                                         "--label=version=1 b", "trace"};
  EXPECT_EQ(RunPost(args, {{"trace", kTrace}}).err, "");
  setenv("JTRACE_POST_FOR_SHIP", "1", 1);
  EXPECT_EQ(RunPost(args, {{"trace", kTrace}}).err,
            "jtrace-post: profile 99127555-e904-57ff-952f-e780f11db1ee "
            "name=sh_op%7Bhost%3Dbox%2Cversion%3D1%20b%7D&from=1700000000&until=1700000001"
            "&format=pprof&spyName=jtrace\n");
  unsetenv("JTRACE_POST_FOR_SHIP");
}

TEST(PprofTest, ShowsTypesLabelsAndWhatWasTraced) {
  const PprofFile profile = testing::ParsePprof(Export(kTrace, "pprof"));
  using Type = std::pair<std::string, std::string>;
  EXPECT_THAT(profile.types, ElementsAre(Type("calls", "count"), Type("samples", "count"),
                                         Type("cpu", "nanoseconds"), Type("time", "microseconds"),
                                         Type("alloc.bytes", "bytes")));
  EXPECT_EQ(profile.default_type, "cpu");
  EXPECT_EQ(profile.period_type, Type("cpu", "nanoseconds"));
  EXPECT_EQ(profile.period, 1'000'000);
  EXPECT_EQ(profile.time_ns, 1'700'000'000'000'000'000);
  EXPECT_EQ(profile.duration_ns, 10'000);
  // UUIDv5 of "pprof\n\nbox\n4711\n1700000000000000000\n" in jtrace's namespace, by Python's uuid.
  EXPECT_THAT(profile.comments, ElementsAre("command: app.jar x", "service: app.jar", "host: box",
                                            "profile id: 99127555-e904-57ff-952f-e780f11db1ee"));
  EXPECT_EQ(profile.mistakes, std::vector<std::string>());
  EXPECT_EQ(profile.values.at("cpu"),
            (PathValues{{{"main", "a.A.run(int)", "b.B.work()", "read"}, 4'000'000}}));
  EXPECT_EQ(profile.values.at("alloc.bytes"),
            (PathValues{{{"main", "a.A.run(int)", "b.B.work()"}, 64}}));
  EXPECT_EQ(profile.labels.at("pid").begin()->first, "4711");
  EXPECT_EQ(profile.labels.at("host").begin()->first, "box");
  EXPECT_EQ(profile.labels.at("thread").size(), 2U);
  std::map<std::string, std::string> modules;
  std::map<std::string, std::string> files;
  for (const PprofFile::Function& function : profile.functions) {
    modules[function.name] = function.module;
    files[function.name] = function.file;
  }
  EXPECT_EQ(modules["read"], "libc.so.6");
  EXPECT_EQ(modules["b.B.work()"], "[java]");
  EXPECT_EQ(files["b.B.work()"], "b.B");
}

TEST(OtlpTest, ShowsTypesResourceAndTimes) {
  const testing::OtlpFile file = testing::ParseOtlp(Export(kTrace, "otlp"));
  EXPECT_EQ(file.mistakes, std::vector<std::string>());
  EXPECT_EQ(file.scope, "jtrace");
  EXPECT_EQ(file.resource,
            (std::map<std::string, std::string>{{"host.name", "box"},
                                                {"process.command_line", "app.jar x"},
                                                {"process.pid", "4711"},
                                                {"service.name", "app.jar"}}));
  using Type = std::pair<std::string, std::string>;
  std::vector<Type> types;
  for (const auto& profile : file.profiles) types.push_back(profile.type);
  EXPECT_THAT(types, ElementsAre(Type("cpu", "nanoseconds"), Type("calls", "count"),
                                 Type("samples", "count"), Type("time", "microseconds"),
                                 Type("alloc.bytes", "bytes")));
  const testing::OtlpFile::Profile& cpu = file.profiles[0];
  EXPECT_EQ(cpu.period_type, Type("cpu", "nanoseconds"));
  EXPECT_EQ(cpu.period, 1'000'000);
  EXPECT_EQ(cpu.time_ns, 1'700'000'000'000'000'000);
  EXPECT_EQ(cpu.duration_ns, 10'000);
  EXPECT_EQ(cpu.values, (PathValues{{{"main", "a.A.run(int)", "b.B.work()", "read"}, 4'000'000}}));
  EXPECT_EQ(file.profiles[4].values, (PathValues{{{"main", "a.A.run(int)", "b.B.work()"}, 64}}));
  EXPECT_EQ(file.modules.at("read"), "libc.so.6");
  EXPECT_EQ(file.modules.at("b.B.work()"), "[java]");
}

// Ticks of one node with labels and without, and one that --top leaves out.
constexpr char kLabelled[] =
    "# jtrace-text 1 unit=us\n#@\tsession\tinterval_ns\t1000000\n"
    "0\tmain\tenter\ta.A.run()\n"
    "1\tmain\tsample*3\ta.A.run()\tb.B.work()\n"
    "2\tmain\tlabels\tkind=query,tenant=acme\n"
    "2\tmain\tsample*4\ta.A.run()\tb.B.work()\n"
    "3\tmain\tlabels\ttenant=other\n"
    "3\tmain\tsample*5\ta.A.run()\tb.B.work()\n"
    "4\tmain\tsample\ta.A.run()\tb.B.work()\tc.C.rare()\n"
    "9\tmain\texit\ta.A.run()\n";

TEST(PprofTest, SamplesHaveTheLabelsOfTheirThreads) {
  const auto& all = [](const std::vector<std::string>& options) {
    const PprofFile profile = testing::ParsePprof(Export(kLabelled, "pprof", options));
    EXPECT_EQ(profile.mistakes, std::vector<std::string>());
    return profile;
  };
  const PprofFile profile = all({});
  using Values = std::map<std::string, int64_t>;
  EXPECT_EQ(profile.labelled.at("tenant=acme"), (Values{{"samples", 4}, {"cpu", 4'000'000}}));
  EXPECT_EQ(profile.labelled.at("kind=query"), profile.labelled.at("tenant=acme"));
  EXPECT_EQ(profile.labelled.at("tenant=other"), (Values{{"samples", 6}, {"cpu", 6'000'000}}));
  EXPECT_EQ(profile.labelled.at("thread=main"),
            (Values{{"calls", 1}, {"samples", 13}, {"cpu", 13'000'000}, {"time", 9}}));
  // Calls and times have no labels, and the sums by path are those without labels.
  EXPECT_EQ(profile.values.at("calls"), (PathValues{{{"main", "a.A.run()"}, 1}}));
  EXPECT_EQ(profile.values.at("samples"),
            (PathValues{{{"main", "a.A.run()", "b.B.work()"}, 12},
                        {{"main", "a.A.run()", "b.B.work()", "c.C.rare()"}, 1}}));
  EXPECT_EQ(all({"--top=3"}).labelled.at("tenant=other").at("samples"), 6);
  EXPECT_EQ(all({"--root=b.B.work"}).labelled.at("tenant=acme").at("samples"), 4);
  EXPECT_EQ(all({"--fold=jdk"}).labelled.at("tenant=acme").at("samples"), 4);
}

TEST(OtlpTest, SamplesHaveTheLabelsOfTheirThreads) {
  const testing::OtlpFile file = testing::ParseOtlp(Export(kLabelled, "otlp"));
  EXPECT_EQ(file.mistakes, std::vector<std::string>());
  std::map<std::string, std::map<std::string, int64_t>> values;
  for (const auto& profile : file.profiles) values[profile.type.first] = profile.labelled;
  using Values = std::map<std::string, int64_t>;
  EXPECT_EQ(
      values.at("samples"),
      (Values{
          {"kind=query", 4}, {"tenant=acme", 4}, {"tenant=other", 6}, {"thread.name=main", 13}}));
  EXPECT_EQ(values.at("calls"), (Values{{"thread.name=main", 1}}));
}

TEST(ExportsTest, ALabelDoesNotPassForAThreadsName) {
  constexpr char kTrace[] =
      "# jtrace-text 1 unit=us\n#@\tsession\tinterval_ns\t1000000\n"
      "0\tmain\tlabels\tthread=a,thread.name=b\n"
      "1\tmain\tsample*4\ta.A.run()\n";
  const PprofFile pprof = testing::ParsePprof(Export(kTrace, "pprof"));
  EXPECT_EQ(pprof.labelled.count("thread=a"), 0u);
  EXPECT_EQ(pprof.labelled.at("label.thread=a").at("samples"), 4);
  EXPECT_EQ(pprof.labelled.at("thread.name=b").at("samples"), 4);
  const testing::OtlpFile otlp = testing::ParseOtlp(Export(kTrace, "otlp"));
  EXPECT_EQ(otlp.profiles.front().labelled.count("thread.name=b"), 0u);
  EXPECT_EQ(otlp.profiles.front().labelled.at("label.thread.name=b"), 4'000'000);
  EXPECT_EQ(otlp.profiles.front().labelled.at("thread=a"), 4'000'000);
}

std::vector<std::string> IdsOf(const std::string& trace,
                               const std::vector<std::string>& options = {}) {
  std::vector<std::string> ids;
  for (const auto& it : testing::ParseOtlp(Export(trace, "otlp", options)).profiles) {
    ids.push_back(it.id);
  }
  return ids;
}

std::string Replaced(std::string text, const std::string& what, const std::string& by) {
  text.replace(text.find(what), what.size(), by);
  return text;
}

TEST(OtlpTest, IdsAreThoseOfTheRunAndOfWhatIsMeasured) {
  const std::vector<std::string> ids = IdsOf(kTrace);
  ASSERT_EQ(ids.size(), 5U);
  for (const std::string& id : ids) EXPECT_EQ(id.size(), 16U);
  EXPECT_EQ(std::set<std::string>(ids.begin(), ids.end()).size(), 5U);
  EXPECT_EQ(IdsOf(kTrace, {"--aggregate=group", "--label=service=shop"}), ids);
  EXPECT_NE(IdsOf(Replaced(kTrace, "4711", "4712")), ids);
  // The next file of loop=.
  EXPECT_NE(IdsOf(Replaced(kTrace, "#@\tsession\tpid",
                           "#@\tsession\tfile_begin_ns\t60\n"
                           "#@\tsession\tpid")),
            ids);
}

TEST(OtlpTest, LabelsAreAttributesOfTheResource) {
  const testing::OtlpFile file = testing::ParseOtlp(
      Export(kTrace, "otlp",
             {"--label=service=shop", "--label=version=1.3", "--label=version=1.4",
              "--label=host=web-1", "--label=container=c1"}));
  EXPECT_EQ(file.resource.at("service.name"), "shop");
  EXPECT_EQ(file.resource.at("service.version"), "1.4");
  EXPECT_EQ(file.resource.at("host.name"), "web-1");
  EXPECT_EQ(file.resource.at("container.name"), "c1");
}

// A.run() calls B.work() from lines 120 and 125, and from code without lines.
constexpr char kSites[] =
    "# jtrace-text 1 unit=us\n"
    "0\tmain\tnode\tcalls=1,base=1\ta.A.run()\n"
    "0\tmain\tnode\tcalls=3,base=30\ta.A.run()\\:120\tb.B.work()\n"
    "0\tmain\tnode\tcalls=5,base=50\ta.A.run()\\:125\tb.B.work()\n"
    "0\tmain\tnode\tcalls=7,base=70\ta.A.run()\\@17\tb.B.work()\n"
    "0\tmain\tnode\tcalls=9,base=90\ta.A.run()\\:120\tb.B.work()\\:8\tc.C.end()\n";

TEST(SitesExportTest, StacksHaveTheLineOfTheCaller) {
  const PathValues stacks = {
      {{"main", "a.A.run()"}, 1},
      {{"main", "a.A.run():120", "b.B.work()"}, 30},
      {{"main", "a.A.run():120", "b.B.work():8", "c.C.end()"}, 90},
      {{"main", "a.A.run():125", "b.B.work()"}, 50},
      {{"main", "a.A.run()@17", "b.B.work()"}, 70},
  };
  EXPECT_EQ(testing::ParseCollapsed(Export(kSites, "collapsed", {"--metric=time"})), stacks);
  const std::string speedscope = Export(kSites, "speedscope", {"--metric=time"});
  EXPECT_EQ(testing::ParseSpeedscope(speedscope).values, stacks);
  EXPECT_THAT(speedscope, HasSubstr("{\"name\":\"a.A.run():120\",\"file\":\"a.A\",\"line\":120}"));
  EXPECT_THAT(speedscope, HasSubstr("{\"name\":\"a.A.run()@17\",\"file\":\"a.A\"}"));
  EXPECT_EQ(Export(kSites, "collapsed", {"--metric=time", "--sites=off"}),
            "main;a.A.run() 1\nmain;a.A.run();b.B.work() 150\n"
            "main;a.A.run();b.B.work();c.C.end() 90\n");
}

TEST(SitesExportTest, LocationsOfPprofHaveTheLine) {
  const PprofFile profile = testing::ParsePprof(Export(kSites, "pprof"));
  EXPECT_EQ(profile.mistakes, std::vector<std::string>());
  EXPECT_EQ(profile.values_by_line.at("calls"),
            (PathValues{{{"main", "a.A.run()"}, 1},
                        {{"main", "a.A.run():120", "b.B.work()"}, 3},
                        {{"main", "a.A.run():120", "b.B.work():8", "c.C.end()"}, 9},
                        {{"main", "a.A.run():125", "b.B.work()"}, 5},
                        {{"main", "a.A.run()", "b.B.work()"}, 7}}));
  EXPECT_EQ(profile.values.at("calls"),
            (PathValues{{{"main", "a.A.run()"}, 1},
                        {{"main", "a.A.run()", "b.B.work()"}, 15},
                        {{"main", "a.A.run()", "b.B.work()", "c.C.end()"}, 9}}));
}

TEST(SitesExportTest, LocationsOfOtlpHaveTheLine) {
  const testing::OtlpFile file = testing::ParseOtlp(Export(kSites, "otlp"));
  EXPECT_EQ(file.mistakes, std::vector<std::string>());
  PathValues calls;
  for (const auto& profile : file.profiles) {
    if (profile.type.first == "calls") calls = profile.values;
  }
  EXPECT_EQ(calls, (PathValues{{{"main", "a.A.run()"}, 1},
                               {{"main", "a.A.run():120", "b.B.work()"}, 3},
                               {{"main", "a.A.run():120", "b.B.work():8", "c.C.end()"}, 9},
                               {{"main", "a.A.run():125", "b.B.work()"}, 5},
                               {{"main", "a.A.run()", "b.B.work()"}, 7}}));
}

TEST(SitesExportTest, ArcsOfCallgrindHaveTheLine) {
  const testing::CallgrindFile file = testing::ParseCallgrind(Export(kSites, "callgrind"));
  EXPECT_EQ(file.mistakes, std::vector<std::string>());
  const auto calls = [&](const std::string& caller, const std::string& callee, int64_t line) {
    const auto found = file.arcs_by_line.find({caller, callee, line});
    return found == file.arcs_by_line.end() ? 0 : found->second.calls;
  };
  EXPECT_EQ(calls("a.A:a.A.run()", "b.B:b.B.work()", 120), 3);
  EXPECT_EQ(calls("a.A:a.A.run()", "b.B:b.B.work()", 125), 5);
  EXPECT_EQ(calls("a.A:a.A.run()", "b.B:b.B.work()", 0), 7);
  EXPECT_EQ(calls("b.B:b.B.work()", "c.C:c.C.end()", 8), 9);
  EXPECT_EQ(calls("[threads]:main", "a.A:a.A.run()", 0), 1);
  EXPECT_EQ(file.arcs_by_line.size(), 5U);
  EXPECT_EQ(file.arcs.at({"a.A:a.A.run()", "b.B:b.B.work()"}).calls, 15);
}

TEST(SpeedscopeTest, ShowsTicksAsTheTimeTheyStandFor) {
  const testing::SpeedscopeFile file = testing::ParseSpeedscope(Export(kTrace, "speedscope"));
  EXPECT_EQ(file.unit, "nanoseconds");
  EXPECT_EQ(file.values, (PathValues{{{"main", "a.A.run(int)", "b.B.work()", "read"}, 4'000'000}}));
  EXPECT_EQ(testing::ParseSpeedscope(Export(kTrace, "speedscope", {"--metric=calls"})).unit,
            "none");
  EXPECT_EQ(testing::ParseSpeedscope(Export(kTrace, "speedscope", {"--metric=alloc.bytes"})).unit,
            "bytes");
}

TEST(CallgrindTest, ShowsUnitsModulesAndClasses) {
  const testing::CallgrindFile file = testing::ParseCallgrind(Export(kTrace, "callgrind"));
  EXPECT_EQ(file.mistakes, std::vector<std::string>());
  EXPECT_THAT(file.events, ElementsAre("ticks", "calls", "time", "alloc.bytes"));
  EXPECT_THAT(file.totals, ElementsAre(4, 4, 17, 64));
  EXPECT_THAT(file.descriptions, Contains("Unit: ticks in ticks of 1000000 ns"));
  EXPECT_EQ(file.objects.at("libc.so.6:read"), "libc.so.6");
  EXPECT_EQ(file.objects.at("b.B:b.B.work()"), "[java]");
  EXPECT_EQ(file.arcs.at({"[threads]:main", "a.A:a.A.run(int)"}).calls, 2);
}

// Sums that can decrease, such as live bytes, may be negative.
TEST(CallgrindTest, LeavesOutMetricsThatReadersCannotRead) {
  const std::string trace =
      "# jtrace-text 1 unit=us\n0\tm\tenter\tA\n1\tm\tmetric\tlive.bytes\t-5\n3\tm\texit\tA\n";
  const testing::CallgrindFile file = testing::ParseCallgrind(Export(trace, "callgrind"));
  EXPECT_THAT(file.events, ElementsAre("time", "calls"));
  EXPECT_THAT(file.descriptions, Contains("Left out: live.bytes, which has negative values"));
  EXPECT_EQ(testing::ParsePprof(Export(trace, "pprof")).values.at("live.bytes"),
            (PathValues{{{"m", "A"}, -5}}));
}

// 20,000 frames: no recursion in the writers, one line.
TEST(ExportTest, DeepStacksAreWhole) {
  constexpr size_t kDepth = 20'000;
  std::string trace = "# jtrace-text 1 unit=us\n0\tm\tsample";
  for (size_t i = 0; i < kDepth; ++i) trace += i % 2 == 0 ? "\tA" : "\tB";
  trace += "\n";
  const PathValues collapsed = testing::ParseCollapsed(Export(trace, "collapsed"));
  ASSERT_EQ(collapsed.size(), 1U);
  EXPECT_EQ(collapsed.begin()->first.size(), kDepth + 1);
  EXPECT_EQ(testing::ParseSpeedscope(Export(trace, "speedscope")).values, collapsed);
  EXPECT_EQ(testing::ParsePprof(Export(trace, "pprof")).values.at("samples"), collapsed);
  const testing::CallgrindFile file = testing::ParseCallgrind(Export(trace, "callgrind"));
  EXPECT_EQ(file.self.size(), kDepth + 1);
  EXPECT_EQ(file.arcs.at({"[threads]:m", "[java]:A"}).inclusive, testing::Costs{1});
}

}  // namespace
}  // namespace jtrace
