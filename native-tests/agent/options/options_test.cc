#include "agent/options/options.h"

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "agent/base/perf_event.h"
#include "agent/options/option_table.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "native-tests/support/described_options.h"

namespace jtrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::string ErrorOf(absl::string_view text) {
  const auto options = ParseOptions(text);
  return options.ok() ? "" : std::string(options.status().message());
}

TEST(OptionsTest, NothingMeansMerged) {
  const auto options = ParseOptions("");
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->mode, Mode::kMerged);
  EXPECT_EQ(options->record, RecordKind::kTree);
  EXPECT_EQ(options->samples.interval, absl::Milliseconds(1));
  EXPECT_EQ(options->out, "trace.bin");
}

TEST(OptionsTest, ReadsEveryValue) {
  const auto options = ParseOptions(
      "mode=events,record=flat,interval=250us,out=/tmp/%p.bin,include=a.**;b.C,include=d.*,"
      "exclude=a.x.**,codes=-0x51;-0x60;+0x60,signal=26,log=none");
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->mode, Mode::kEvents);
  EXPECT_EQ(options->record, RecordKind::kFlat);
  EXPECT_EQ(options->samples.interval, absl::Microseconds(250));
  EXPECT_EQ(options->out, "/tmp/%p.bin");
  EXPECT_THAT(options->include, ElementsAre("a.**", "b.C", "d.*"));
  EXPECT_THAT(options->exclude, ElementsAre("a.x.**"));
  EXPECT_EQ(options->codes.Changes(), "-code;-inlining;-stub");
  EXPECT_EQ(options->signal, 26);
  EXPECT_EQ(options->log, LogTarget::kNone);
}

TEST(OptionsTest, TheCompilersAreFirst) {
  EXPECT_TRUE(ParseOptions("compilers=first")->compilers_first);
  EXPECT_THAT(DescribeOptions(*ParseOptions("")), Not(HasSubstr("compilers")));
  const auto options = ParseOptions("compilers=asis");
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_FALSE(options->compilers_first);
  EXPECT_FALSE(ParseOptions(DescribeOptions(*options))->compilers_first);
  EXPECT_TRUE(ParseOptions("")->compilers_first);
}

TEST(OptionsTest, OnlyCallsAloneRest) {
  const auto options = ParseOptions("serve,probes=resting,include=a.**");
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_TRUE(options->probes_rest);
  EXPECT_THAT(DescribeOptions(*options), HasSubstr(",probes=resting"));
  EXPECT_FALSE(ParseOptions("serve,probes=atstart")->probes_rest);
  EXPECT_TRUE(ParseOptions("serve,probes=resting,record=flat").ok());
  EXPECT_THAT(ParseOptions("probes=resting").status().message(),
              HasSubstr("libjtrace.so=serve,probes=resting"));
  for (const char* other :
       {"clock=tsc", "record=log", "blocks=on", "sites=on", "boundary=on", "metrics=alloc.bytes",
        "unwind=a.B::c", "hook=a.B::c", "mode=samples"}) {
    const auto refused = ParseOptions(absl::StrCat("serve,probes=resting,", other));
    const std::string named = absl::StrCat("leave ", absl::string_view(other).substr(0, 5));
    EXPECT_THAT(refused.status().message(), HasSubstr(named)) << other;
  }
}

TEST(OptionsTest, ProbesInARunningProgramHaveABudget) {
  EXPECT_EQ(ParseOptions("")->probe_budget, 20);
  EXPECT_THAT(DescribeOptions(*ParseOptions("")), Not(HasSubstr("probebudget")));
  for (const char* text : {"probebudget=5%", "probebudget=5"}) {
    const auto options = ParseOptions(text);
    ASSERT_TRUE(options.ok()) << options.status();
    EXPECT_EQ(options->probe_budget, 5);
    EXPECT_EQ(ParseOptions(DescribeOptions(*options))->probe_budget, 5);
  }
  for (const char* bad :
       {"probebudget=0", "probebudget=101%", "probebudget=2.5", "probebudget=x"}) {
    EXPECT_THAT(ErrorOf(bad), HasSubstr("is not a percentage from 1 to 100")) << bad;
  }
}

TEST(OptionsTest, TheTestOnExitNeedsAClock) {
  const auto options = ParseOptions("pruneexit=2.5%,clock=tsc,mode=events");
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->exit_percent, 2.5);
  const auto again = ParseOptions(DescribeOptions(*options));
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->exit_percent, 2.5);
  for (const char* bad :
       {"pruneexit=1", "pruneexit=1,clock=tsc,record=log", "pruneexit=1,clock=tsc,mode=samples"}) {
    EXPECT_THAT(ErrorOf(bad), HasSubstr("option 'pruneexit': compares times of paths")) << bad;
  }
  EXPECT_THAT(ErrorOf("pruneexit=1,clock=tsc,blocks=paths"), HasSubstr("not with blocks=paths"));
  EXPECT_THAT(ErrorOf("pruneexit=51,clock=tsc"), HasSubstr("not a percentage from 0 to 50"));
}

TEST(OptionsTest, NamesTheOptionAndTheNearestValidOne) {
  EXPECT_EQ(ErrorOf("intervall=1ms"),
            "unknown option 'intervall'; did you mean 'interval'? (try help)");
  EXPECT_THAT(ErrorOf("include=com/acme/**"), HasSubstr("option 'include': bad pattern"));
  EXPECT_THAT(ErrorOf("exclude=com.acme.***"), HasSubstr("option 'exclude': bad pattern"));
  EXPECT_THAT(ErrorOf("mode=merge"), HasSubstr("option 'mode': 'merge' is not one of "
                                               "merged|events|samples; did you mean merged?"));
}

TEST(OptionsTest, IntervalMeansWhatTheTimerCounts) {
  const auto wall = ParseOptions("timer=wall,threads=main;pool-*");
  ASSERT_TRUE(wall.ok()) << wall.status();
  EXPECT_EQ(wall->samples.timer, Timer::kWall);
  EXPECT_EQ(wall->samples.interval, absl::Milliseconds(10));
  EXPECT_THAT(wall->samples.threads, ElementsAre("main", "pool-*"));
  EXPECT_THAT(DescribeOptions(*wall), HasSubstr(",interval=10ms,timer=wall,threads=main;pool-*"));

  // In any order.
  const auto faults = ParseOptions("interval=25,timer=perf:page-faults");
  ASSERT_TRUE(faults.ok()) << faults.status();
  EXPECT_EQ(faults->samples.period, 25u);
  EXPECT_THAT(DescribeOptions(*faults), HasSubstr(",interval=25,timer=perf:page-faults"));
  const auto cycles = ParseOptions("timer=perf:cycles");
  ASSERT_TRUE(cycles.ok());
  EXPECT_EQ(cycles->samples.period, 1'000'000u);
  const auto clock = ParseOptions("timer=perf:task-clock,interval=2ms");
  ASSERT_TRUE(clock.ok());
  EXPECT_EQ(clock->samples.period, 0u);
  EXPECT_EQ(clock->samples.interval, absl::Milliseconds(2));
}

// Who only counts such calls pays for nothing else.
TEST(OptionsTest, CostsOfCallsOutOfScopeAreOnRequest) {
  const auto counted = ParseOptions("boundary=on");
  ASSERT_TRUE(counted.ok()) << counted.status();
  EXPECT_TRUE(counted->CountsBoundaryCalls());
  EXPECT_FALSE(counted->boundary_costs);
  EXPECT_THAT(RecordedMetrics(*counted), IsEmpty());
  EXPECT_THAT(DescribeOptions(*counted), HasSubstr(",boundary=on"));

  const auto costs = ParseOptions("boundary=costs");
  ASSERT_TRUE(costs.ok()) << costs.status();
  EXPECT_TRUE(costs->CountsBoundaryCalls());
  EXPECT_THAT(RecordedMetrics(*costs), ElementsAre("outside.ns", "outside.elements"));
  EXPECT_THAT(DescribeOptions(*costs), HasSubstr(",boundary=costs"));
  EXPECT_THAT(ErrorOf("boundary=count"), HasSubstr("costs"));
}

TEST(OptionsTest, CostsOfCallsOutOfScopeNeedCallPaths) {
  EXPECT_THAT(RecordedMetrics(*ParseOptions("boundary=costs,record=flat")), IsEmpty());
  EXPECT_THAT(RecordedMetrics(*ParseOptions("boundary=costs,record=log")), IsEmpty());
  EXPECT_THAT(RecordedMetrics(*ParseOptions("boundary=costs,codes=-boundary")), IsEmpty());
  // Nodes have the time of such a clock anyway.
  EXPECT_THAT(RecordedMetrics(*ParseOptions("boundary=costs,clock=tsc")),
              ElementsAre("outside.elements"));
  EXPECT_TRUE(ParseOptions("boundary=costs,clock=tsc,metrics=outside.ns").ok());
  for (const char* without :
       {"", ",boundary=on", ",boundary=costs,record=flat", ",boundary=costs,mode=samples"}) {
    EXPECT_THAT(ErrorOf(absl::StrCat("metrics=outside.ns", without)),
                HasSubstr("outside.ns needs boundary=costs, record=tree"))
        << without;
  }
}

TEST(OptionsTest, StacksNeedAProcessorThatTheWalkerKnows) {
  EXPECT_EQ(ParseOptions("stack=pc")->samples.stack, samples::StackMode::kPc);
  EXPECT_TRUE(ParseOptions("mode=events,stack=appframe").ok());
  if (!samples::kWalksStacks) {
    EXPECT_EQ(ParseOptions("")->samples.stack, samples::StackMode::kPc);
    EXPECT_THAT(ErrorOf("stack=appframe"), HasSubstr("use stack=pc"));
    EXPECT_THAT(ErrorOf("unwind=C::d"), HasSubstr("needs x86-64"));
    return;
  }
  EXPECT_EQ(ParseOptions("")->samples.stack, samples::StackMode::kFull);
  EXPECT_EQ(ParseOptions("stack=appframe")->samples.stack, samples::StackMode::kAppFrame);
}

TEST(OptionsTest, RejectsUnknownTimers) {
  EXPECT_THAT(ErrorOf("timer=wal"), HasSubstr("did you mean wall?"));
  EXPECT_THAT(ErrorOf("timer=perf:cycle"), HasSubstr("did you mean perf:cycles?"));
  EXPECT_THAT(ErrorOf("timer=perf:page-fault"), HasSubstr("did you mean perf:page-faults?"));
  for (const char* text : {"timer=perf:nonsense", "timer=perf:"}) {
    EXPECT_THAT(ErrorOf(text), HasSubstr("available here: " + AvailablePerfEvents()));
    EXPECT_THAT(ErrorOf(text), Not(HasSubstr("did you mean")));
  }
  EXPECT_THAT(ErrorOf("timer=perf:page-faults,interval=1ms"), HasSubstr("counts events"));
  EXPECT_THAT(ErrorOf("timer=perf:context-switches,interval=1"), HasSubstr("outside 4 to"));
  EXPECT_THAT(ErrorOf("timer=wall,interval=100us"), HasSubstr("minimum of timer=wall, 1ms"));
  EXPECT_THAT(ErrorOf("stack=appfram"), HasSubstr("did you mean appframe?"));
  EXPECT_THAT(ErrorOf("threads=;"), HasSubstr("needs a thread's name"));
}

TEST(OptionsTest, UnwindsNameMethods) {
  if (!samples::kWalksStacks) GTEST_SKIP() << "this processor's stacks are not walked";
  const auto options = ParseOptions("unwind=com.acme.Cache::load:every=100;a.B::*,unwind=C::d");
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_THAT(options->unwinds, ElementsAre(UnwindRule{"com.acme.Cache::load", 100},
                                            UnwindRule{"a.B::*", 1}, UnwindRule{"C::d", 1}));
  EXPECT_EQ(ParseOptions(DescribeOptions(*options))->unwinds, options->unwinds);
  EXPECT_THAT(ErrorOf("unwind=com.acme.Cache"), HasSubstr("names no method"));
  EXPECT_THAT(ErrorOf("unwind=A::b:every=0"), HasSubstr("every= needs a number"));
  EXPECT_THAT(ErrorOf("unwind=A::b:every=x"), HasSubstr("every= needs a number"));
  EXPECT_THAT(ErrorOf("unwind=;"), HasSubstr("needs a method"));
  EXPECT_THAT(ErrorOf("mode=samples,unwind=A::b"), HasSubstr("mode=merged"));

  const auto rules = UnwindRules::Create(options->unwinds);
  ASSERT_TRUE(rules.ok());
  EXPECT_TRUE(rules->MayMatchClass("com/acme/Cache"));
  EXPECT_FALSE(rules->MayMatchClass("com/acme/Cached"));
  EXPECT_EQ(rules->EveryOf("com/acme/Cache", "load"), 100u);
  EXPECT_EQ(rules->EveryOf("a/B", "anything"), 1u);
  ASSERT_EQ(rules->size(), 3u);
  EXPECT_EQ(rules->pattern(0), "com.acme.Cache::load");
  EXPECT_TRUE(rules->Matches(0, "com/acme/Cache", "load"));
  EXPECT_FALSE(rules->Matches(0, "com/acme/Cache", "loads"));
  // The probe itself uses method handles.
  EXPECT_FALSE(UnwindRules::Create({{"java.lang.invoke.MethodHandle::*", 1}})
                   ->MayMatchClass("java/lang/invoke/MethodHandle"));
  EXPECT_FALSE(UnwindRules().MayMatchClass("A"));
}

std::vector<std::string> HooksOf(absl::string_view text) {
  const auto options = ParseOptions(text);
  EXPECT_TRUE(options.ok()) << options.status();
  std::vector<std::string> symbols;
  if (options.ok()) {
    EXPECT_EQ(options->out, "x") << text;
    for (const native_hooks::HookSpec& spec : options->hooks) symbols.push_back(spec.symbol);
  }
  return symbols;
}

TEST(OptionsTest, CommasInFunctionNamesDoNotSplit) {
  EXPECT_THAT(HooksOf("hook=a!os::malloc(unsigned long, MEMFLAGS):unwind,out=x"),
              ElementsAre("os::malloc(unsigned long, MEMFLAGS)"));
  EXPECT_THAT(HooksOf("out=x,hook=a!f<int, long>(A, B);b!g(int,int),hook=c!h"),
              ElementsAre("f<int, long>(A, B)", "g(int,int)", "h"));
  EXPECT_THAT(HooksOf("hook=a!operator<(A, B);a!A::operator->,out=x,hook=b!operator<< <A, B>(C)"),
              ElementsAre("operator<(A, B)", "A::operator->", "operator<< <A, B>(C)"));
  EXPECT_THAT(HooksOf("hook=a!A::operator()(int, int),out=x"),
              ElementsAre("A::operator()(int, int)"));
  EXPECT_THAT(HooksOf("hook=a!A::operator,(A, A),out=x"), ElementsAre("A::operator,(A, A)"));
  EXPECT_THAT(HooksOf("hook=a!f<(B)1, ((4)>(2)), int>(int, int),out=x"),
              ElementsAre("f<(B)1, ((4)>(2)), int>(int, int)"));
  EXPECT_THAT(HooksOf("hook=a!operator==(A, B),,out=x"), ElementsAre("operator==(A, B)"));
}

// A part of a name may be a pattern.
TEST(OptionsTest, UnclosedBracketsDoNotPreventSplitting) {
  EXPECT_THAT(HooksOf("hook=a!f(*,out=x"), ElementsAre("f(*"));
  EXPECT_THAT(HooksOf("hook=a!f<*,out=x,hook=b!*>(int)"), ElementsAre("f<*", "*>(int)"));
  EXPECT_THAT(HooksOf("hook=a!f(*;b!g(int, int),out=x"), ElementsAre("f(*", "g(int, int)"));
  EXPECT_THAT(ErrorOf("hook=a!f(int,modee=events"), HasSubstr("did you mean 'mode'?"));
  EXPECT_THAT(ErrorOf("hook=a!f(int, long,out=x"), HasSubstr("unknown option 'long'"));
  EXPECT_THAT(ErrorOf("include=a(b,c)"), HasSubstr("option 'include'"));
}

TEST(OptionsTest, RejectsHarmfulValues) {
  EXPECT_THAT(ErrorOf("signal=34"), HasSubstr("real-time"));
  EXPECT_THAT(ErrorOf("signal=11"), HasSubstr("used by the JVM"));
  EXPECT_THAT(ErrorOf("interval=1us"), HasSubstr("outside 20us to 10s"));
  EXPECT_THAT(ErrorOf("interval=1"), HasSubstr("'1': the unit is missing, 1ms?"));
  EXPECT_THAT(ErrorOf("interval=5000"), HasSubstr("'5000': the unit is missing, 5000us?"));
  EXPECT_THAT(ErrorOf("interval=soon"), HasSubstr("not a duration"));
  EXPECT_THAT(ErrorOf("interval"), HasSubstr("needs a value"));
  EXPECT_THAT(ErrorOf("interval="), HasSubstr("option 'interval': needs a time such as 1ms"));
  EXPECT_THAT(ErrorOf("config=/nonexistent"), HasSubstr("cannot read '/nonexistent'"));
  EXPECT_THAT(ErrorOf("config=/tmp"), HasSubstr("cannot read '/tmp': it is a folder"));
  EXPECT_THAT(ErrorOf("config=/dev/zero"), HasSubstr("it is a device or a pipe; name a file"));
  const std::string pipe = testing::TempDir() + "/options_test.pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0) << "a pipe without a writer";
  EXPECT_THAT(ErrorOf("costs=" + pipe), HasSubstr("it is a device or a pipe; name a file"));
  unlink(pipe.c_str());
  const std::string large = testing::TempDir() + "/options_test.large";
  std::ofstream(large) << std::string((1 << 20) + 1, '\n');
  EXPECT_THAT(ErrorOf("config=" + large), HasSubstr("it has more than 1 MB"));
  unlink(large.c_str());
  EXPECT_THAT(ErrorOf("costs=/tmp"), HasSubstr("cannot read '/tmp': it is a folder"));
}

TEST(OptionsTest, EveryErrorIsOneLine) {
  for (const char* text : {"x", "mode=", "interval=-1", "codes=zz", "signal=x",
                           "include=", "include=a.**,include=", "memory=1mk", "memory=g"}) {
    const std::string error = ErrorOf(text);
    EXPECT_NE(error, "") << text;
    EXPECT_EQ(error.find('\n'), std::string::npos) << error;
  }
}

TEST(OptionsTest, ConfigFileGivesLineNumbers) {
  const std::string path = ::testing::TempDir() + "/jtrace.conf";
  std::ofstream(path) << "# comment\n\nmode=samples\ninterval = 1ms\ncolour=red\n";
  EXPECT_THAT(ErrorOf("config=" + path), HasSubstr(path + ":5: unknown option 'colour'"));
}

TEST(OptionsTest, ConfigFileThatNamesItselfEnds) {
  const std::string path = ::testing::TempDir() + "/self.conf";
  std::ofstream(path) << "config=" << path << "\n";
  EXPECT_THAT(ErrorOf("config=" + path), HasSubstr("include one another"));
}

TEST(OptionsTest, HelpListsEveryOptionOnALine) {
  const std::string help = OptionsHelp();
  for (const char* name : {"mode=", "record=", "interval=", "out=", "include=", "config="}) {
    EXPECT_THAT(help, HasSubstr(std::string("\n  ") + name));
  }
}

TEST(OptionsTest, TheFirstWordMayBeAnAction) {
  EXPECT_EQ(ParseOptions("")->action, Action::kStart);
  EXPECT_EQ(ParseOptions("stop")->action, Action::kStop);
  EXPECT_EQ(ParseOptions("serve")->action, Action::kServe);
  const auto start = ParseOptions("start,mode=events");
  ASSERT_TRUE(start.ok());
  EXPECT_EQ(start->mode, Mode::kEvents);
  EXPECT_THAT(ErrorOf("mode=events,stop"), HasSubstr("unknown option 'stop'"));
}

TEST(OptionsTest, LoopsAreTimesOrSizes) {
  EXPECT_FALSE(ParseOptions("")->loop.on());
  EXPECT_EQ(ParseOptions("loop=100MB")->loop.bytes, 100u << 20);
  EXPECT_EQ(ParseOptions("loop=2048k")->loop.bytes, 2u << 20);
  EXPECT_EQ(ParseOptions("loop=1h")->loop.time, absl::Hours(1));
  EXPECT_EQ(ParseOptions("duration=30")->duration, absl::Seconds(30));
  EXPECT_EQ(ParseOptions("duration=2m")->duration, absl::Minutes(2));
  EXPECT_THAT(ErrorOf("loop=often"), HasSubstr("neither a time"));
  EXPECT_EQ(ParseOptions("codes=-sample")->mode, Mode::kEvents);
  EXPECT_EQ(ParseOptions("codes=-0x30;-0x50")->mode, Mode::kSamples);
  EXPECT_EQ(ParseOptions("codes=+0x30;-0x50")->mode, Mode::kMerged);
  EXPECT_TRUE(ParseOptions("")->WantsCodeRecords());
  for (const char* samples : {"mode=samples", "codes=-0x30;-0x50", "mode=samples,codes=+gc"}) {
    EXPECT_FALSE(ParseOptions(samples)->WantsCodeRecords()) << samples;
    EXPECT_TRUE(ParseOptions(samples)->WantsDebugInfo()) << samples;
  }
  EXPECT_TRUE(ParseOptions("mode=samples,codes=+jit")->WantsCodeRecords());
  EXPECT_TRUE(ParseOptions("mode=samples,hook=libc.so.6!malloc:count")->WantsCodeRecords());
  EXPECT_FALSE(ParseOptions("mode=samples,codes=-0x51")->WantsDebugInfo());
  EXPECT_FALSE(ParseOptions("mode=events")->WantsDebugInfo());
  EXPECT_THAT(ErrorOf("mode=samples,codes=-0x40"), HasSubstr("nothing is left to record"));
  EXPECT_THAT(ErrorOf("metrics=exceptions;alloc.objects,codes=+0x70"), HasSubstr("leave one"));
  EXPECT_THAT(ErrorOf("metrics=live.bytes,codes=+0x70"), HasSubstr("live.bytes looks at every"));
  EXPECT_TRUE(ParseOptions("metrics=alloc.bytes,codes=+0x70").ok());
  EXPECT_THAT(ErrorOf("metrics=elapsed.live.bytes"), HasSubstr("only metrics of call paths"));
  EXPECT_THAT(ErrorOf("metrics=elapsed.outside.ns"), HasSubstr("only metrics of call paths"));
  EXPECT_THAT(ErrorOf("metrics=elapsed.elapsed.alloc.bytes"), HasSubstr("only metrics of call"));
  EXPECT_THAT(ErrorOf("metrics=elapsed.aloc.bytes"), HasSubstr("did you mean 'alloc.bytes'"));
  EXPECT_THAT(ErrorOf("metrics=elapsed.user.orders,record=flat"), HasSubstr("needs record=tree"));
  EXPECT_THAT(ParseOptions("metrics=elapsed.exceptions")->metrics,
              ElementsAre("exceptions", "elapsed.exceptions"));
  EXPECT_THAT(ErrorOf("codes=-0x40;-0x30;-0x50"), HasSubstr("nothing is left to record"));
  EXPECT_THAT(ErrorOf("include=a.**,b.**"), HasSubstr("separated by ';'"));
  EXPECT_THAT(ErrorOf("loop=0"), HasSubstr("neither a time"));
  EXPECT_THAT(ErrorOf("loop=300k"), HasSubstr("loop=1MB"));
  EXPECT_THAT(ErrorOf("duration=-1s"), HasSubstr("not a time"));
}

TEST(OptionsTest, ARecordingEndsAfterANumberOfSamples) {
  EXPECT_EQ(ParseOptions("")->max_samples, 0u);
  EXPECT_EQ(ParseOptions("samples=10000")->max_samples, 10'000u);
  EXPECT_THAT(DescribeOptions(*ParseOptions("mode=samples,samples=7")), HasSubstr(",samples=7"));
  EXPECT_THAT(DescribeOptions(*ParseOptions("")), Not(HasSubstr("samples=")));
  for (const char* wrong : {"samples=0", "samples=-1", "samples=many", "samples=1k"}) {
    EXPECT_THAT(ErrorOf(wrong), HasSubstr("not a number of samples such as 10000")) << wrong;
  }
  EXPECT_THAT(ErrorOf("mode=events,samples=10"), HasSubstr("use mode=merged or samples"));
}

TEST(OptionsTest, KeepIsASizeOrANumberOfFiles) {
  EXPECT_FALSE(ParseOptions("loop=1m")->keep.on());
  EXPECT_EQ(ParseOptions("loop=1m,keep=1GB")->keep.bytes, 1u << 30);
  EXPECT_EQ(ParseOptions("keep=100k,loop=1m")->keep.bytes, 100u << 10);
  EXPECT_EQ(ParseOptions("loop=1m,keep=60")->keep.files, 60u);
  EXPECT_EQ(ParseOptions("loop=1m,keep=60")->keep.bytes, Keep::kAll);
  const auto both = ParseOptions("loop=1m,keep=2g,keep=100");
  EXPECT_EQ(both->keep.bytes, 2u << 30);
  EXPECT_EQ(both->keep.files, 100u);
  for (const char* bad : {"keep=0", "keep=100001", "keep=some", "keep=", "keep=-1"}) {
    EXPECT_THAT(ErrorOf(absl::StrCat("loop=1m,", bad)), HasSubstr("neither a size such as 1GB"))
        << bad;
  }
  // As for loop=, 10m is a time.
  EXPECT_THAT(ErrorOf("loop=1m,keep=10m"), HasSubstr("'10m' is a time; give a size such as 10MB"));
  EXPECT_THAT(ErrorOf("keep=1GB"), HasSubstr("add loop=1m"));
  EXPECT_THAT(ErrorOf("loop=100MB,keep=50MB"), HasSubstr("too small for files of loop=100MB"));
  EXPECT_THAT(ErrorOf("loop=100MB,keep=199MB"), HasSubstr("use twice that at least"));
  EXPECT_TRUE(ParseOptions("loop=100MB,keep=200MB").ok());
}

// The examples of the table that name no file, and values that are hard to write exactly.
std::vector<std::string> ValidOptions() {
  std::vector<std::string> texts = {"mode=events",
                                    "record=log",
                                    "clock=coarse",
                                    "clock=cpu",
                                    "clock=manual",
                                    "record=log,logbudget=1000",
                                    "record=log,overflow=gap",
                                    "interval=2500us",
                                    "interval=20000",
                                    "interval=25,timer=perf:page-faults",
                                    "timer=perf:cpu-clock",
                                    "interval=7ms,timer=wall",
                                    "jitter=off",
                                    "stack=pc",
                                    "include=own;a.**",
                                    "include=A::b",
                                    "exclude=a.x.**;a.y.Z",
                                    "probebudget=100",
                                    "serve,probes=resting,maxdepth=77",
                                    "memory=1234567890",
                                    "prune=0",
                                    "prune=0.12345678901234567%",
                                    "pruneexit=49.999999999,clock=cpu",
                                    "maxdepth=10",
                                    "unwind=a.B::c;D::e:every=7",
                                    "hook=a!f<int, long>(A, B):unwind",
                                    "hook=a.B::c:unwind",
                                    "hook=a.B::c;libc.so.6!read:time",
                                    "metrics=elapsed.user.orders",
                                    "boundary=on",
                                    "boundary=costs,metrics=outside.ns",
                                    "boundary=costs,codes=-boundary",
                                    "codes=+0x31",
                                    "codes=+switch",
                                    "codes=-switch",
                                    "codes=-0x40",
                                    "codes=-0x30;-0x50",
                                    "codes=-0x51;+gc;-gc",
                                    "mode=samples,codes=+jit",
                                    "blocks=paths",
                                    "duration=1h30m0.25s",
                                    "duration=1",
                                    "loop=1048577B",
                                    "loop=1536kB",
                                    "loop=90s",
                                    "loop=1h,loop=64MB",
                                    "loop=1h,keep=1500B",
                                    "loop=1h,keep=1MB,keep=60",
                                    "signal=27",
                                    "log=/tmp/log"};
  for (const OptionEntry& entry : OptionTable()) {
    if (entry.name != "costs" && entry.name != "config") texts.emplace_back(entry.example);
  }
  std::erase_if(texts, [](const std::string& text) { return !ParseOptions(text).ok(); });
  return texts;
}

void ExpectParsesBack(const std::string& text) {
  const auto options = ParseOptions(text);
  if (!options.ok()) return;  // contradictions
  const std::string description = DescribeOptions(*options);
  const auto again = ParseOptions(description);
  ASSERT_TRUE(again.ok()) << text << " -> " << description << ": " << again.status();
  EXPECT_EQ(DescribedPart(*again), DescribedPart(*options)) << text << " -> " << description;
}

std::string WithActionFirst(std::string text) {
  const size_t serve = text.find(",serve,");
  return serve == std::string::npos ? text : "serve," + text.erase(serve, 6);
}

TEST(OptionsTest, EachExampleIsValid) {
  for (const OptionEntry& entry : OptionTable()) {
    if (entry.name == "costs" || entry.name == "config") continue;  // name files
    EXPECT_TRUE(ParseOptions(entry.example).ok()) << entry.example;
    EXPECT_THAT(std::string(entry.example), HasSubstr(std::string(entry.name)));
  }
}

TEST(OptionsTest, DescriptionParsesBackToTheSameOptions) {
  const std::vector<std::string> texts = ValidOptions();
  for (const std::string& one : texts) {
    for (const std::string& other : texts) ExpectParsesBack(WithActionFirst(one + "," + other));
  }
  std::mt19937 random(1);
  for (int i = 0; i < 20'000; ++i) {
    std::vector<std::string> chosen(3 + random() % 3);
    for (std::string& text : chosen) text = texts[random() % texts.size()];
    ExpectParsesBack(WithActionFirst(absl::StrJoin(chosen, ",")));
  }
}

TEST(OptionsTest, DescriptionHasEachOptionThatChangesWhatIsRecorded) {
  for (const OptionEntry& entry : OptionTable()) {
    if (entry.describe == nullptr || entry.name == "costs") continue;
    bool is_described = false;
    for (const std::string& text : ValidOptions()) {
      const std::string description = "," + DescribeOptions(*ParseOptions(text));
      is_described |= absl::StrContains(description, absl::StrCat(",", entry.name, "="));
    }
    EXPECT_TRUE(is_described) << entry.name;
  }
}

TEST(OptionsTest, DescriptionNamesTheFilesOfCosts) {
  const std::string path = ::testing::TempDir() + "/options_test.costs";
  std::ofstream(path) << "fixed a.B.c 20\n";
  const auto options = ParseOptions("boundary=costs,costs=" + path);
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_THAT(DescribeOptions(*options), HasSubstr(",costs=" + path));
  EXPECT_EQ(*ParseOptions(DescribeOptions(*options)), *options);
}

TEST(OptionsTest, BlocksAreCountedByMethodOrByPath) {
  for (const char* text : {"blocks=on", "blocks=on,record=flat", "blocks=paths"}) {
    const auto options = ParseOptions(text);
    ASSERT_TRUE(options.ok()) << options.status();
    const auto again = ParseOptions(DescribeOptions(*options));
    ASSERT_TRUE(again.ok()) << DescribeOptions(*options);
    EXPECT_EQ(again->blocks, options->blocks);
    EXPECT_NE(again->blocks, Blocks::kOff);
  }
  EXPECT_EQ(ErrorOf("blocks=paths,record=flat"),
            "option 'blocks': record=flat has no call paths; use record=tree, or blocks=on");
  EXPECT_THAT(ErrorOf("blocks=paths,record=log"), HasSubstr("record=tree or flat"));
  for (const char* one_kind : {"blocks=on,codes=-0x50", "blocks=paths,codes=-interpreted"}) {
    EXPECT_THAT(ErrorOf(one_kind), HasSubstr("leave 0x30 and 0x50 on, or use record=flat"));
  }
  EXPECT_TRUE(ParseOptions("blocks=on,record=flat,codes=-0x50").ok());
  EXPECT_THAT(ErrorOf("blocks=path"), HasSubstr("on|paths|off; did you mean paths?"));
}

TEST(OptionsTest, SitesNeedTrees) {
  for (const char* text : {"sites=on", "sites=on,blocks=on,clock=tsc", "mode=events,sites=on"}) {
    const auto options = ParseOptions(text);
    ASSERT_TRUE(options.ok()) << options.status();
    const auto again = ParseOptions(DescribeOptions(*options));
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_TRUE(options->sites && again->sites) << text;
  }
  for (const char* text :
       {"sites=on,record=flat", "sites=on,record=log", "sites=on,mode=samples"}) {
    EXPECT_EQ(ErrorOf(text),
              "option 'sites': needs call trees: mode=merged or events, record=tree");
  }
  EXPECT_EQ(ErrorOf("sites=on,blocks=paths"),
            "option 'sites': not with blocks=paths, which has lines of its own; use blocks=on");
  EXPECT_THAT(ErrorOf("sites=yes"), HasSubstr("option 'sites'"));
}

TEST(OptionsTest, OnlyLogsOverflow) {
  for (const char* text : {"overflow=wait", "mode=samples,record=log,overflow=wait"}) {
    EXPECT_EQ(ErrorOf(text),
              "option 'overflow': only logs overflow; use record=log, or leave it out");
  }
  EXPECT_TRUE(ParseOptions("overflow=gap").ok());
  EXPECT_THAT(ErrorOf("record=log,overflow=waits"), HasSubstr("did you mean wait"));
}

TEST(OptionsTest, DescriptionShowsWhenLogsAndFilesEnd) {
  for (const char* given :
       {"overflow=wait", "logbudget=2GB", "logbudget=512kB", "loop=100MB", "loop=1536kB", "loop=1h",
        "loop=1h,keep=1GB", "loop=1h,keep=1500B", "loop=1h,keep=60", "loop=1h,keep=1MB,keep=60"}) {
    const auto options = ParseOptions(absl::StrCat("record=log,", given));
    ASSERT_TRUE(options.ok()) << options.status();
    EXPECT_THAT(DescribeOptions(*options), HasSubstr(given));
  }
}

}  // namespace
}  // namespace jtrace
