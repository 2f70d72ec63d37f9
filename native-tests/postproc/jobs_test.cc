// The output is the same whatever the number of reading threads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "native-tests/support/log_trace.h"
#include "native-tests/support/random_log.h"
#include "native-tests/support/random_trace.h"
#include "native-tests/support/run_post.h"
#include "native-tests/support/small_logs.h"

namespace jtrace {
namespace {

using testing::AddLog;
using ::testing::HasSubstr;
using testing::kEnterF;
using testing::kEnterG;
using testing::kExitF;
using testing::kExitG;
using testing::TraceBuilder;

// Everything that jtrace-post writes about a trace, in several ways.
std::string Everything(const std::string& trace, int jobs) {
  std::string all;
  for (std::vector<std::string> args : std::vector<std::vector<std::string>>{
           {"t"},
           {"dump", "t"},
           {"--format=csv", "t",
            "--report=summary,tree,flat,arcflow,functions,samples,paths,threads,metrics,jit,hooks"},
           {"--format=csv", "t", "--report=tree", "--sort=first"},
           {"--format=csv", "t", "--report=tree", "--sort=first", "--aggregate=process"},
           {"--format=csv", "t", "--report=tree,flat", "--thread=t1", "--merge=embed"}}) {
    args.push_back("--jobs=" + std::to_string(jobs));
    const testing::RunResult result = testing::RunPost(args, {{"t", trace}});
    all += "exit code " + std::to_string(result.exit_code) + "\n" + result.err + result.out;
  }
  return all;
}

void ExpectTheSame(const std::string& trace, const std::string& what) {
  const std::string one = Everything(trace, 1);
  ASSERT_EQ(Everything(trace, 2), one) << what;
  ASSERT_EQ(Everything(trace, 4), one) << what;
}

TEST(JobsTest, HandlesRandomLogs) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    ExpectTheSame(testing::MakeRandomLog(seed).binary, "seed " + std::to_string(seed));
    if (HasFatalFailure()) return;
  }
}

TEST(JobsTest, HandlesRandomTraces) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    ExpectTheSame(testing::RandomBinaryTrace(seed), "seed " + std::to_string(seed));
    if (HasFatalFailure()) return;
  }
}

TEST(JobsTest, HandlesTheFiguresTraces) {
  int traces = 0;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(JTRACE_SOURCE_DIR) +
                                                               "/native-tests/golden")) {
    if (entry.path().extension() != ".jtxt") continue;
    std::ostringstream content;
    content << std::ifstream(entry.path()).rdbuf();
    ExpectTheSame(content.str(), entry.path());
    ++traces;
  }
  EXPECT_GE(traces, 8);
}

TEST(JobsTest, HandlesDamagedTraces) {
  const std::string whole = testing::MakeRandomLog(7).binary;
  for (size_t at = testing::FileHeader().size(); at < whole.size(); at += 97) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    ExpectTheSame(damaged, "byte " + std::to_string(at));
    ExpectTheSame(whole.substr(0, at), "cut at " + std::to_string(at));
    if (HasFatalFailure()) return;
  }
}

// Long enough for every chunk to be cut into runs of worthwhile sizes.
TEST(JobsTest, HandlesALongLog) {
  for (const bool clock : {false, true}) {
    testing::LogTraceOptions options;
    options.events = 100000;
    options.threads = 3;
    options.events_a_chunk = 20000;
    options.clock = clock;
    ExpectTheSame(testing::LogTrace(options), clock ? "with a clock" : "without");
  }
}

// Exits of activations open before the run end those that are really open, not those that the run
// assumes.
TEST(JobsTest, HandlesALostExitBeforeTheRun) {
  TraceBuilder builder = testing::TwoRoutines();
  AddLog(builder, 0, {kEnterF, kEnterG}, {0, 10});
  builder.Seal();
  AddLog(builder, 100, {kExitF, kEnterG, kExitG, kExitG}, {0, 10, 20, 30});
  ExpectTheSame(builder.Finish(), "a lost exit");
}

// A run's first call is not valid if the thread's time has advanced.
TEST(JobsTest, HandlesTimeThatRunsBackBetweenChunks) {
  TraceBuilder builder = testing::TwoRoutines();
  AddLog(builder, 50, {kEnterF, kEnterG}, {0, 100});
  builder.Seal();
  AddLog(builder, 90, {kExitG, kEnterG, kExitG, kExitF}, {0, 30, 40, 50});
  ExpectTheSame(builder.Finish(), "time that runs back");
}

TEST(JobsTest, HandlesTimeOffTheProcessorsAroundARun) {
  for (const bool off : {false, true}) {
    TraceBuilder builder = testing::TwoRoutines();
    AddLog(builder, 0, {kEnterF, kEnterG}, {0, 10});
    builder.Event(10, 1, format::kThreadSwitch, format::kEnd + 1);
    if (!off) builder.Event(10, 1, format::kThreadSwitch, 1);
    AddLog(builder, 10, {kExitG, kEnterG, kExitG, kExitF}, {0, 30, 40, 50});
    ExpectTheSame(builder.Finish(), "switches");
  }
}

// Time of code that waits for a user is off time, and so is that of the activation open before.
TEST(JobsTest, HandlesRoutinesThatWaitForTheUser) {
  TraceBuilder builder = testing::TwoRoutines();
  builder.chunk().mutable_routine(0)->set_kind(proto::Routine::CALL);
  builder.chunk().mutable_routine(0)->set_cost(proto::Routine::USER_INPUT);
  AddLog(builder, 0, {kEnterG, kEnterF}, {0, 10});
  builder.Seal();
  AddLog(builder, 20, {kExitF, kEnterF, kExitF, kEnterF, kEnterG}, {5, 10, 10, 10, 10});
  builder.Seal();
  AddLog(builder, 80, {kExitG, kExitF, kExitG}, {5, 10, 10});
  ExpectTheSame(builder.Finish(), "user input");
}

TEST(JobsTest, HandlesUndefinedRoutines) {
  TraceBuilder builder = testing::TwoRoutines();
  AddLog(builder, 0, {kEnterG, 77 << 2, 77 << 2 | 2, kEnterF, kExitF}, {0, 1, 1, 1, 1});
  AddLog(builder, 9, {kEnterG, kExitG, 78 << 2, 77 << 2, kExitG}, {0, 1, 1, 1, 1});
  const std::string trace = builder.Finish();
  ExpectTheSame(trace, "undefined");
  EXPECT_THAT(testing::RunPost({"t", "--jobs=2"}, {{"t", trace}}).err,
              HasSubstr("routine 77 was never defined"));
}

TEST(JobsTest, TheNumberIsChecked) {
  for (const char* jobs : {"0", "-1", "257", "x", ""}) {
    const testing::RunResult result = testing::RunPost({std::string("--jobs=") + jobs, "t"});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.err, HasSubstr("--jobs"));
  }
}

}  // namespace
}  // namespace jtrace
