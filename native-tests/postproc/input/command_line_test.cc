#include "postproc/input/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "native-tests/support/csv.h"
#include "native-tests/support/run_post.h"
#include "native-tests/support/trace_builder.h"
#include "postproc/pipeline.h"
#include "postproc/support/strings.h"

namespace jtrace {
namespace {

using testing::CsvRow;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::RunPost;
using testing::RunResult;

constexpr char kTrace[] =
    "# jtrace-text 1 unit=us\n"
    "0\tmain\tenter\tA(int)\n1\tmain\tenter\tB\n4\tmain\texit\tB\n5\tmain\texit\tA(int)\n"
    "0\tpool-1\tenter\tB\n9\tpool-1\texit\tB\n9\tpool-1\tsample\tN:libc.so!read\n";

RunResult RunOnTrace(std::vector<std::string> args) {
  args.emplace_back("trace");
  return RunPost(args, {{"trace", kTrace}});
}

TEST(CommandLineTest, MistakesNameTheNearestValidChoice) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"--reprot=tree", "nearest: --report"},
      {"--report=tre", "nearest: tree"},
      {"--report=flat,arcflo", "nearest: arcflow"},
      {"--format=cvs", "nearest: csv"},
      {"--merge=chian", "nearest: chain"},
      {"--scope=ap", "nearest: app"},
      {"--aggregate=proces", "nearest: process"},
      {"--sort=cals", "nearest: calls"},
      {"--top=0", "--top: '0'"},
      {"--filter=101", "--filter: '101'"},
      {"--help=yes", "--help takes no value"},
      {"--report=callers", "needs --of=ROUTINE"},
      {"--source=", "--source: no folder or archive is named"},
      {"--report=sorce", "nearest: source"}};
  for (const auto& [arg, message] : cases) {
    const RunResult result = RunOnTrace({arg});
    EXPECT_EQ(result.exit_code, 1) << arg;
    EXPECT_THAT(result.err, HasSubstr(message)) << arg;
    EXPECT_EQ(result.out, "") << arg;
  }
}

TEST(CommandLineTest, SortingByAColumnThatTheReportLacksIsRejected) {
  const RunResult result = RunOnTrace({"--report=functions", "--sort=samplse"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("nearest: samples"));
}

// A failed report leaves the existing file.
TEST(CommandLineTest, AFailedRunKeepsTheOutputFile) {
  const std::string path = ::testing::TempDir() + "kept.txt";
  std::ofstream(path) << "yesterday";
  const auto content = [&] {
    std::ifstream file(path);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  EXPECT_EQ(RunOnTrace({"--report=flat", "--sort=bogus", "-o", path}).exit_code, 1);
  EXPECT_EQ(content(), "yesterday");
  EXPECT_EQ(RunPost({"--report=flat", "-o", path, "/nonexistent/trace"}).exit_code, 2);
  EXPECT_EQ(content(), "yesterday");
  EXPECT_EQ(RunOnTrace({"--report=flat", "-o", path}).exit_code, 0);
  EXPECT_THAT(content(), HasSubstr("A(int)"));
  EXPECT_EQ(RunOnTrace({"--report=flat", "-o", "/dev/null"}).exit_code, 0);
}

TEST(CommandLineTest, OnlyReportsOnTreesTakeARoot) {
  const RunResult run = RunOnTrace({"--report=functions", "--root=A"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.err, HasSubstr("tree, flat, arcflow, graph take a root"));
}

TEST(CommandLineTest, OptionsThatAReportDoesNotUseAreRejected) {
  for (const std::vector<std::string>& args :
       std::vector<std::vector<std::string>>{{"--report=modules", "--metric=bytes"},
                                             {"--report=html", "--metric=calls"},
                                             {"--report=html", "--filter=2"},
                                             {"--report=html", "--sort=calls"},
                                             {"--report=dot", "--top=3"}}) {
    const RunResult run = RunOnTrace(args);
    EXPECT_EQ(run.exit_code, 1) << args[1];
    EXPECT_THAT(run.err, HasSubstr("does not use it")) << args[1];
  }
  EXPECT_THAT(RunOnTrace({"--report=modules", "--metric=bytes"}).err,
              HasSubstr("metrics are those of Java methods, which are in no module"));
}

TEST(CommandLineTest, ThreadsOfSeveralTracesNameTheirTrace) {
  const std::string a = "# jtrace-text 1 unit=us\n0\tmain\tsample\tA\n";
  const RunResult run =
      RunPost({"--report=threads", "--format=csv", "one", "two"}, {{"one", a}, {"two", a}});
  EXPECT_THAT(testing::ParseCsv(run.out).Project({"thread", "trace"}),
              ElementsAre(CsvRow{"main", "one"}, CsvRow{"main", "two"}));
}

// Its last caller is first: paths differ there.
TEST(CommandLineTest, CallersAreStacksInText) {
  const std::string trace = "# jtrace-text 1 unit=us\n0\tmain\tsample\tA\tB\tC\tD\n";
  const RunResult run = RunPost({"--report=callers", "--of=C", "trace"}, {{"trace", trace}});
  EXPECT_THAT(run.out, HasSubstr("100.0 %  100.0 %\n          C\n        ← B\n        ← A\n"));
  const RunResult callees = RunPost({"--report=callees", "--of=C", "trace"}, {{"trace", trace}});
  EXPECT_THAT(callees.out, HasSubstr("C\n"));
  EXPECT_THAT(callees.out, HasSubstr("  D\n"));
}

TEST(CommandLineTest, WarnsThatTicksDiffer) {
  const std::string head = "# jtrace-text 1 unit=us\n#@\tsession\tinterval_ns\t";
  const std::string sample = "\n0\tmain\tsample\tA\n";
  const auto run = [&](const std::string& a, const std::string& b) {
    return RunPost({"--report=flat", "a", "b"},
                   {{"a", head + a + sample}, {"b", head + b + sample}});
  };
  EXPECT_THAT(run("1000000", "10000000").err, HasSubstr("a tick is not the same time"));
  EXPECT_EQ(run("1000000", "1000000").err, "");
}

TEST(CommandLineTest, ExitCodesShowTheKindOfFailure) {
  EXPECT_EQ(RunPost({}).exit_code, 1);
  EXPECT_EQ(RunPost({"--help"}).exit_code, 0);
  EXPECT_EQ(RunPost({"--version"}).exit_code, 0);
  EXPECT_EQ(RunPost({"/nonexistent/trace"}).exit_code, 2);
  EXPECT_THAT(RunPost({"/nonexistent/trace"}).err, HasSubstr("cannot open /nonexistent/trace"));
  EXPECT_EQ(RunOnTrace({"-o", "/nonexistent/out"}).exit_code, 2);
  EXPECT_EQ(RunOnTrace({}).exit_code, 0);
  // A file may have the name of an option.
  EXPECT_EQ(RunPost({"--", "--x.bin"}, {{"--x.bin", "not a trace"}}).exit_code, 2);
  EXPECT_EQ(RunPost({"--", "--nonexistent"}).exit_code, 2);
  EXPECT_EQ(
      RunPost({"--report=flat", "--", "--x"}, {{"--x", "# jtrace-text 1 unit=ns\n"}}).exit_code, 0);
}

TEST(CommandLineTest, HelpHasAnExampleForEveryOption) {
  const std::string help = postproc::HelpText();
  for (const std::string option :
       {"--report=", "--format=", "-o ", "--merge=", "--thread=", "--root=", "--of=", "--scope=",
        "--filter=", "--sort=", "--top=", "--metric=", "--aggregate="}) {
    EXPECT_THAT(help, HasSubstr("e.g. " + option)) << option;
  }
}

std::vector<CsvRow> Rows(const std::vector<std::string>& args, const CsvRow& columns) {
  std::vector<std::string> all = args;
  all.emplace_back("--format=csv");
  return testing::ParseCsv(RunOnTrace(all).out).Project(columns);
}

TEST(CommandLineTest, AGlobSelectsThreads) {
  EXPECT_THAT(Rows({"--report=threads", "--thread=pool-?"}, {"thread", "cum"}),
              ElementsAre(CsvRow{"pool-1", "9"}));
  EXPECT_EQ(Rows({"--report=threads", "--thread=*"}, {"thread"}).size(), 2u);
}

TEST(CommandLineTest, VirtualRoot) {
  EXPECT_THAT(Rows({"--report=tree", "--root=B"}, {"thread", "level", "cum", "name"}),
              ElementsAre(CsvRow{"main", "0", "3", "main"}, CsvRow{"main", "1", "3", "B"},
                          CsvRow{"pool-1", "0", "9", "pool-1"}, CsvRow{"pool-1", "1", "9", "B"}));
}

TEST(CommandLineTest, RecursiveCallsOfTheVirtualRootStayBelowIt) {
  const RunResult result =
      RunPost({"--report=tree", "--root=A", "--format=csv", "t"},
              {{"t",
                "# jtrace-text 1 unit=us\n0\tT\tenter\tA\n1\tT\tenter\tB\n3\tT\tenter\tA\n"
                "7\tT\texit\tA\n8\tT\texit\tB\n10\tT\texit\tA\n"}});
  EXPECT_THAT(testing::ParseCsv(result.out).Project({"level", "cum", "name"}),
              ElementsAre(CsvRow{"0", "10", "T"}, CsvRow{"1", "10", "A"}, CsvRow{"2", "7", "B"},
                          CsvRow{"3", "4", "A"}));
}

TEST(CommandLineTest, OneTreeForTheProcess) {
  EXPECT_THAT(Rows({"--report=tree", "--aggregate=process"}, {"level", "calls", "cum", "name"}),
              ElementsAre(CsvRow{"0", "1", "14", "process"}, CsvRow{"1", "1", "9", "B"},
                          CsvRow{"1", "1", "5", "A(int)"}, CsvRow{"2", "1", "3", "B"},
                          CsvRow{"1", "0", "0", "read"}));
}

TEST(CommandLineTest, ProcessesAreRowsOfTheThreadsReport) {
  EXPECT_THAT(Rows({"--report=threads", "--aggregate=process"}, {"thread", "calls", "samples"}),
              ElementsAre(CsvRow{"process", "3", "1"}));
}

TEST(CommandLineTest, TheOutputMustNotBeTheTrace) {
  const std::string trace = ::testing::TempDir() + "command_line_own_trace.jtxt";
  constexpr char kTrace[] = "# jtrace-text 1 unit=us\n0\tT\tenter\tA\n";
  std::ofstream(trace) << kTrace;
  const RunResult result = RunPost({"dump", "-o", trace, trace});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("would overwrite the trace"));
  std::stringstream kept;
  kept << std::ifstream(trace).rdbuf();
  EXPECT_EQ(kept.str(), kTrace);
}

// An empty report would look like an answer.
TEST(CommandLineTest, AMissingNameIsReportedWithTheNearestOne) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"--thread=pool", "--thread: no thread 'pool' in the trace; nearest: pool-1"},
      {"--root=AA", "--root: no routine 'AA' in the trace; nearest: A"},
      {"--report=callees --of=raed", "--of: no routine 'raed' in the trace; nearest: read"},
      {"--report=metrics --metric=alloc.bytes", "--metric: no metric 'alloc.bytes' in the trace"},
      {"--report=arcflow --sort=calls", "--sort: arcflow has one order"},
  };
  for (const auto& [args, message] : cases) {
    std::vector<std::string> all;
    for (const std::string_view arg : postproc::Split(args, ' ')) all.emplace_back(arg);
    const RunResult result = RunOnTrace(all);
    EXPECT_EQ(result.exit_code, 1) << args;
    EXPECT_THAT(result.err, HasSubstr(message));
  }
}

TEST(CommandLineTest, TheNearestRoutineMayLeaveOutPackageAndClass) {
  constexpr char kNames[] =
      "# jtrace-text 1 unit=us\n0\tT\tenter\torg.h2.mvstore.Page.getKey(int)\n"
      "0\tT\tenter\torg.h2.mvstore.Page.getValue(int)\n0\tT\tenter\tf\n";
  for (const char* near : {"getkey", "Page.gotKey", "org.h2.mvstore.Pages.getKey"}) {
    const RunResult result = RunPost({std::string("--root=") + near, "t"}, {{"t", kNames}});
    EXPECT_THAT(result.err, HasSubstr("nearest: org.h2.mvstore.Page.getKey\n")) << near;
  }
}

// Names of a trace cannot control a terminal; programs get them unchanged.
TEST(CommandLineTest, ControlCharactersDoNotReachTheTerminal) {
  constexpr char kNames[] =
      "# jtrace-text 1 unit=us\n0\tT\x1b[2J\tenter\tf\xc2\x9bg\xc2\xb5\x7f()\n";
  const std::string text = RunPost({"--report=tree,flat,arcflow", "t"}, {{"t", kNames}}).out;
  EXPECT_THAT(text, HasSubstr("T\\x1b[2J"));
  EXPECT_THAT(text, HasSubstr("f\\x9bg\xc2\xb5\\x7f()"));
  const std::string csv = RunPost({"--report=tree", "--format=csv", "t"}, {{"t", kNames}}).out;
  EXPECT_THAT(csv, HasSubstr("T\x1b[2J"));
}

TEST(CommandLineTest, ControlCharactersInMessagesDoNotReachTheTerminal) {
  constexpr char kNames[] =
      "# jtrace-text 1 unit=us\n0\tT\x1b[2J\tenter\tf\n1\tT\tno\x1b]0;op\x07\n";
  EXPECT_THAT(RunPost({"--thread=U\x1b[2J", "t"}, {{"t", kNames}}).err,
              HasSubstr("nearest: T\\x1b[2J"));
  for (const std::vector<std::string>& args :
       {std::vector<std::string>{"t"}, {"--thread=U", "t"}, {"--x\x1b[2J", "t"}, {"t\x1b[2J"}}) {
    const std::string err = RunPost(args, {{"t", kNames}}).err;
    EXPECT_THAT(err, HasSubstr("\\x1b")) << args.front();
    EXPECT_THAT(err, Not(HasSubstr("\x1b"))) << args.front();
    EXPECT_THAT(err, Not(HasSubstr("\x07"))) << args.front();
  }
}

// Progress controls the terminal; the file's name in it does not.
TEST(CommandLineTest, ProgressStillErasesItsLine) {
  testing::TraceBuilder builder;
  builder.Thread("T", 1);
  const std::string trace = builder.Finish();
  std::ostringstream out;
  std::ostringstream err;
  postproc::Environment environment{out, err,
                                    [&](const std::string&) -> absl::StatusOr<postproc::InputFile> {
                                      return postproc::InputFile::FromMemory(trace);
                                    }};
  environment.err_is_terminal = true;
  const std::string_view args[] = {"t\x1b[2J"};
  EXPECT_EQ(postproc::RunPostProcessor(args, environment), 0);
  EXPECT_THAT(err.str(), HasSubstr("\rreading t\\x1b[2J: 100 %\r\x1b[K"));
  EXPECT_THAT(err.str(), Not(HasSubstr("\x1b[2J")));
}

TEST(CommandLineTest, SpreadsheetsGetGuardedCellsIfWanted) {
  constexpr char kNames[] = "# jtrace-text 1 unit=us\n0\t=cmd|x\tenter\t@SUM(1)\n";
  const std::vector<std::string> args = {"--report=tree", "--format=csv", "t"};
  std::vector<std::string> guarded = args;
  guarded.emplace_back("--spreadsheet");
  EXPECT_THAT(RunPost(guarded, {{"t", kNames}}).out,
              AllOf(HasSubstr(",'=cmd|x,"), HasSubstr(",'@SUM(1),")));
  EXPECT_THAT(RunPost(args, {{"t", kNames}}).out,
              AllOf(HasSubstr(",=cmd|x,"), HasSubstr(",@SUM(1),"), Not(HasSubstr("'"))));
  const testing::RunResult text = RunPost({"--spreadsheet", "t"}, {{"t", kNames}});
  EXPECT_EQ(text.exit_code, 1);
  EXPECT_THAT(text.err, HasSubstr("--format=csv"));
}

TEST(CommandLineTest, TopAndSortApplyToRows) {
  EXPECT_THAT(Rows({"--report=flat", "--sort=name", "--top=2"}, {"name"}),
              ElementsAre(CsvRow{"A(int)"}, CsvRow{"B"}));
  EXPECT_THAT(Rows({"--report=flat", "--sort=calls", "--top=1"}, {"calls", "name"}),
              ElementsAre(CsvRow{"2", "B"}));
}

TEST(CommandLineTest, OverviewShowsTheMainResults) {
  const std::string text = RunOnTrace({}).out;
  EXPECT_THAT(text, HasSubstr("invariants  4 of 4 hold over 5 stanzas"));
  EXPECT_THAT(text, HasSubstr("samples     1: 100.0 % whole"));
  EXPECT_THAT(text, HasSubstr("thread main"));
  EXPECT_THAT(text, HasSubstr("losses      none"));
}

// A trace of mode=samples has no instrumented methods.
TEST(CommandLineTest, WithoutAScopeTheApplicationIsAllButTheJdk) {
  const std::string trace =
      "# jtrace-text 1 unit=us\n"
      "0\tmain\tsample\tJ:a.B.run()\tC:java.util.HashMap.get(Object)\tN:libc.so.6!f\n"
      "1\tmain\tsample\tC:java.lang.Thread.run()\tC:javax.inject.X.y()\n"
      "2\tmain\tsample\tC:javax.swing.X.y()\tI:com.sun.mail.X.y()\n";
  EXPECT_THAT(testing::ParseCsv(testing::ReportCsv(trace, {"--report=samples", "--scope=app"}))
                  .Project({"stack"}),
              ElementsAre(CsvRow{"J:a.B.run()"}, CsvRow{"C:javax.inject.X.y()"},
                          CsvRow{"I:com.sun.mail.X.y()"}));
}

// A stack that was never seen is neither whole nor cut.
TEST(CommandLineTest, SamplesWithoutFramesAreListedSeparately) {
  const std::string trace =
      "# jtrace-text 1 unit=us\n0\tmain\tsample\tJ:A\n1\tmain\tsample\tJ:A\tJ:B\n"
      "2\tmain\tsample\tJ:A\n3\tmain\tsample\tJ:A\t[truncated]\n4\tmain\tsample\n";
  EXPECT_THAT(testing::RunPost({"--report=summary", "t"}, {{"t", trace}}).out,
              HasSubstr("5: 75.0 % whole, 1 without frames\n"));
  const std::string none = "# jtrace-text 1 unit=us\n0\tmain\tsample\n";
  EXPECT_THAT(testing::RunPost({"--report=summary", "t"}, {{"t", none}}).out,
              HasSubstr("1: 1 without frames\n"));
}

// Names of columns as text shows them, too.
TEST(CommandLineTest, SortTakesTheNamesThatTextShows) {
  const auto by = [](const std::string& sort) {
    return Rows({"--report=flat", "--sort=" + sort}, {"name"});
  };
  EXPECT_EQ(by("self"), by("base_ticks"));
  EXPECT_EQ(by("total"), by("cum_ticks"));
  EXPECT_EQ(by("self time"), by("base"));
  EXPECT_EQ(by("min"), by("min_base"));
  EXPECT_NE(by("self"), by("total"));
  EXPECT_EQ(Rows({"--report=tree", "--sort=total"}, {"name"}),
            Rows({"--report=tree", "--sort=cum_ticks"}, {"name"}));
  EXPECT_THAT(RunOnTrace({"--report=flat", "--sort=totals"}).err, HasSubstr("nearest: total"));
}

TEST(CommandLineTest, PartsOfNamesListTheRoutines) {
  constexpr char kNames[] =
      "# jtrace-text 1 unit=us\n0\tT\tenter\torg.h2.mvstore.Page.getKey(int)\n"
      "0\tT\tenter\torg.h2.mvstore.Page.getKey(long)\n"
      "0\tT\tenter\torg.h2.mvstore.Page.getValue(int)\n0\tT\tenter\tf\n";
  for (const char* part : {"Page", "org.h2.mvstore.Page", "Page.get"}) {
    const RunResult result =
        RunPost({"--report=callers", std::string("--of=") + part, "t"}, {{"t", kNames}});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.err,
                HasSubstr(std::string("--of: '") + part +
                          "' is only a part of the names of routines; name one: "
                          "org.h2.mvstore.Page.getKey, org.h2.mvstore.Page.getValue\n"));
  }
  std::string many = "# jtrace-text 1 unit=us\n";
  for (char c = 'a'; c <= 'j'; ++c) many += std::string("0\tT\tenter\tx.Y.") + c + "()\n";
  EXPECT_THAT(RunPost({"--root=x.Y", "t"}, {{"t", many}}).err,
              HasSubstr("name one: x.Y.a, x.Y.b, x.Y.c, x.Y.d, x.Y.e, x.Y.f, and 4 more\n"));
}

TEST(CommandLineTest, AnEmptyReportSaysWhatToRecord) {
  constexpr char kEvents[] = "# jtrace-text 1 unit=us\n0\tT\tenter\tf\n9\tT\texit\tf\n";
  const auto text = [&](std::vector<std::string> args) {
    args.emplace_back("t");
    return RunPost(args, {{"t", kEvents}}).out;
  };
  EXPECT_THAT(text({"--report=functions"}),
              HasSubstr("nothing to show: no samples; mode=merged and mode=samples record them\n"));
  EXPECT_THAT(text({"--report=waits"}), HasSubstr("timer=wall"));
  EXPECT_THAT(text({"--report=waited"}), HasSubstr("codes=+waited"));
  EXPECT_THAT(text({"--report=io"}), HasSubstr("codes=+io"));
  EXPECT_THAT(text({"--report=paths", "--scope=app"}), HasSubstr("leave nothing"));
  EXPECT_THAT(text({"--report=functions", "--format=csv"}), Not(HasSubstr("nothing")));
  EXPECT_THAT(text({"--report=flat"}), Not(HasSubstr("nothing")));
}

}  // namespace
}  // namespace jtrace
