// The estimate of what the JIT compiler spends on the probes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "native-tests/postproc/findings/finding_trace.h"

namespace jtrace {
namespace {

using testing::CsvRow;
using ::testing::ElementsAre;
using testing::FindingTrace;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::Rows;
using testing::RunPost;

constexpr char kEnter[] = "java.lang.invoke.JTraceProbe.enter(int)";

// The program's time, and 200 ticks of C2 and 100 of C1.
FindingTrace Compiled() {
  FindingTrace trace;
  trace.Calls({"app.A.a()"}, 2).Ticks({"app.A.a()"}, {}, 100);
  trace.Record("C2 CompilerThre\tsample*200\tV:libjvm.so!Compile::Compile()");
  trace.Record("C1 CompilerThre\tsample*100\tV:libjvm.so!Compilation::Compilation()");
  return trace;
}
std::string Load(const std::string& method, int number, int level, int bytecodes) {
  return "\tjit-load\t" + method + "\taddress=0x" + std::to_string(1000 * number) +
         "\tsize=90\tmethod=" + std::to_string(number) + "\tlevel=" + std::to_string(level) +
         "\tbytecodes=" + std::to_string(bytecodes);
}
std::vector<CsvRow> Estimates(const FindingTrace& trace) {
  std::vector<CsvRow> found;
  for (const CsvRow& row : Rows(trace.text(), "headline", {"list", "name", "amount"})) {
    if (row[0] == "estimate") found.push_back({row[1], row[2]});
  }
  return found;
}

// Of 100 bytes that C2 compiled 30 are of an inlined probe.
TEST(ProbeCompilationTest, InlinedProbes) {
  FindingTrace trace = Compiled();
  trace.Record(Load("app.A.a()", 1, 4, 70));
  trace.Record("\tjit-inlining\tapp.A.a()\taddress=0x1000\tsize=0\tmethod=1\t@57\t2/30 " +
               std::string(kEnter) + "\t13/70 app.A.a()");
  EXPECT_THAT(Estimates(trace), ElementsAre(CsvRow{"jit.probes", "60"}));
}

// Each compiler's time by its own code: half of C1's, none of C2's.
TEST(ProbeCompilationTest, ByCompiler) {
  FindingTrace trace = Compiled();
  trace.Record(Load("app.A.a()", 1, 4, 70)).Record(Load("app.A.a()", 2, 3, 70));
  trace.Record(Load(kEnter, 3, 3, 70));
  EXPECT_THAT(Estimates(trace), ElementsAre(CsvRow{"jit.probes", "50"}));
}

// A method in scope has at least 16 bytes of the calls of its probes, but is never nothing else.
TEST(ProbeCompilationTest, WhatProbesAddToMethods) {
  FindingTrace trace = Compiled();
  trace.Meta("scope\tapp.A.a()").Meta("scope\tapp.A.leaf()");
  trace.Record(Load("app.A.a()", 1, 4, 76)).Record(Load("app.A.leaf()", 2, 4, 4));
  trace.Record(Load("java.util.A.a()", 3, 4, 20));
  EXPECT_THAT(Estimates(trace), ElementsAre(CsvRow{"jit.probes", "38"}));
}

TEST(ProbeCompilationTest, TheTextSaysThatItIsAnEstimate) {
  FindingTrace trace = Compiled();
  trace.Record(Load("app.A.a()", 1, 4, 70)).Record(Load(kEnter, 2, 4, 70));
  const auto run = RunPost({"--report=headline", "t"}, {{"t", trace.text()}});
  EXPECT_THAT(run.out, HasSubstr("JIT compiler        estimated 25 % for the probes, which "
                                 "mode=samples does not need"));
}

TEST(ProbeCompilationTest, NoneWithoutRecordsOfCode) {
  EXPECT_THAT(Estimates(Compiled()), IsEmpty());
  const auto run = RunPost({"--report=headline", "t"}, {{"t", Compiled().text()}});
  EXPECT_THAT(run.out, HasSubstr("JIT compiler        compiles the probes, too, which"));
}

TEST(ProbeCompilationTest, NoneOfAProgramWithoutProbes) {
  FindingTrace trace = Compiled();
  EXPECT_THAT(Estimates(trace.Record(Load("app.A.a()", 1, 4, 70))), IsEmpty());
}

// As calls have no share of the JIT's time.
TEST(ProbeCompilationTest, NoneWithoutSamplesOfTheJit) {
  FindingTrace trace;
  trace.Calls({"app.A.a()"}, 2).Ticks({"app.A.a()"}, {}, 100).Record(Load(kEnter, 1, 4, 70));
  EXPECT_THAT(Estimates(trace), IsEmpty());
  const auto run = RunPost({"--report=headline", "t"}, {{"t", trace.text()}});
  EXPECT_THAT(run.out, Not(HasSubstr("estimated")));
}

}  // namespace
}  // namespace jtrace
