// Traces that request far more than their size can hold: jtrace-post ends with one line and code 2.
// In a separate process, because its limits are the process's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "native-tests/support/trace_builder.h"
#include "postproc/pipeline.h"

namespace jtrace {
namespace {

using ::testing::HasSubstr;
using testing::TraceBuilder;

// A folder with a trace, removed after the test.
class Folder {
 public:
  explicit Folder(const std::string& trace)
      : path_(::testing::TempDir() + "/limits_test." + std::to_string(getpid())) {
    std::filesystem::create_directories(path_);
    std::ofstream(path_ + "/trace.bin", std::ios::binary) << trace;
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  const std::string& path() const { return path_; }
  std::string Out() const {
    std::ifstream out(path_ + "/out");
    return {std::istreambuf_iterator<char>(out), {}};
  }

 private:
  std::string path_;
};

struct Ended {
  int status = 0;  // as from waitpid
  std::string err;
};

// Runs jtrace-post with these options in the folder.
Ended Post(const Folder& folder, const std::string& options, const std::string& before = "") {
  const std::string command = "cd " + folder.path() + " && " + before +
                              "exec " JTRACE_BINARY_DIR "/bin/jtrace-post " + options +
                              " trace.bin >out 2>err </dev/null";
  Ended ended;
  ended.status = system(command.c_str());
  std::ifstream err(folder.path() + "/err");
  ended.err = {std::istreambuf_iterator<char>(err), {}};
  return ended;
}

// -1: a signal ended it.
int CodeOf(const Ended& ended) { return WIFEXITED(ended.status) ? WEXITSTATUS(ended.status) : -1; }

// One line that names the remedy, and code 2.
void ExpectTooLarge(const std::string& trace, const std::string& options) {
  const Folder folder(trace);
  const Ended ended = Post(folder, options);
  ASSERT_TRUE(WIFEXITED(ended.status)) << "signal " << WTERMSIG(ended.status) << ended.err;
  EXPECT_EQ(WEXITSTATUS(ended.status), 2);
  EXPECT_THAT(ended.err, HasSubstr("this needs more than 64 MB of memory"));
  EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1) << ended.err;
}

constexpr const char* kLittle = "--limit-memory=64m ";

std::string NestedEntries(int entries) {
  TraceBuilder builder;
  builder.Thread("main", 1);
  builder.Routine(builder.Class("A"), "f", "()V");
  proto::EventLog& log = *builder.chunk().add_log();
  log.set_thread(1);
  for (int i = 0; i < entries; ++i) log.add_op(1 << format::kLogRoutineShift);
  return builder.Finish();
}

TEST(LimitsTest, NestedEntriesEndInOneLine) {
  const std::string trace = NestedEntries(3'000'000);
  EXPECT_LT(trace.size(), 10'000u);
  ExpectTooLarge(trace, kLittle);
  ExpectTooLarge(trace, std::string(kLittle) + "--jobs=4");
}

TEST(LimitsTest, ASampleOfMillionsOfFramesEndsInOneLine) {
  TraceBuilder builder;
  builder.Thread("main", 1);
  builder.Method(builder.Class("A"), "f", "()V");
  builder.Frame(proto::Frame::COMPILED, 1);
  proto::Sample& sample = builder.Sample(5, 1, 0, {});
  for (int i = 0; i < 2'000'000; ++i) sample.add_frame(0);
  ExpectTooLarge(builder.Finish(), kLittle);
}

TEST(LimitsTest, EndlessNodesEndInOneLine) {
  TraceBuilder builder;
  builder.Thread("main", 1);
  proto::TreeDelta& tree = *builder.chunk().add_tree();
  tree.set_thread(1);
  for (int i = 0; i < 2'000'000; ++i) tree.add_new_node(1);
  ExpectTooLarge(builder.Finish(), kLittle);
}

TEST(LimitsTest, NestedEntriesOfATextTraceEndInOneLine) {
  std::string trace = "# jtrace-text 1 unit=ns\n";
  for (int i = 0; i < 2'000'000; ++i) trace += "0\tm\tenter\ta\n";
  ExpectTooLarge(trace, kLittle);
}

// Not the limit for such traces, which is never reached.
TEST(LimitsTest, ALimitOfTheProcessIsNamed) {
  std::string trace = "# jtrace-text 1 unit=ns\n";
  for (int i = 0; i < 3'000'000; ++i) trace += "0\tm\tenter\ta\n";
  const Folder folder(trace);
  for (const std::string flag : {"-v", "-d"}) {
    const Ended ended = Post(folder, "", "ulimit " + flag + " 300000; ");
    EXPECT_EQ(CodeOf(ended), 2) << ended.err;
    EXPECT_EQ(ended.err,
              "jtrace-post: this needs more memory than the limit that this process was started "
              "with, 293 MB (ulimit " +
                  flag + "): raise it, or read less at once\n");
  }
}

// A recording of Flight Recorder has an event for each tick, and is written as it is made.
TEST(LimitsTest, MillionsOfTicksAreStreamed) {
  const Folder folder("# jtrace-text 1 unit=ns\n1\tm\tsample*15000000\tJ:a.B.c()\n");
  const Ended ended = Post(folder, std::string(kLittle) + "--report=jfr");
  EXPECT_EQ(CodeOf(ended), 0) << ended.err;
  EXPECT_GT(std::filesystem::file_size(folder.path() + "/out"), 64'000'000u);
}

// Seconds of a processor: what is linear takes a few, what is not takes hours.
constexpr const char* kLinear = "ulimit -t 30; ";

// The work of an exit does not depend on what is open: a million of them would walk over 10^12
// activations.
TEST(LimitsTest, ExitsOfWhatIsNotOpenAreCheap) {
  constexpr int kDeep = 1'000'000;
  std::string trace = "# jtrace-text 1 unit=ns\n";
  int time = 0;
  for (int i = 0; i < kDeep; ++i) {
    trace += std::to_string(++time) + "\tmain\tenter\ta.m" + std::to_string(i % 50) + "()\n";
  }
  for (int i = 0; i < kDeep; ++i) trace += std::to_string(++time) + "\tmain\texit\ta.never()\n";
  const Folder folder(trace);
  const Ended summary = Post(folder, "--report=summary", kLinear);
  EXPECT_EQ(CodeOf(summary), 0) << summary.err;
  EXPECT_THAT(folder.Out(), HasSubstr("1,000,000 exits without an open activation"));
  const Ended timeline = Post(folder, "--report=perfetto", kLinear);
  EXPECT_EQ(CodeOf(timeline), 0) << timeline.err;
}

// A million facts, losses and counts: each is found without a look at the others.
TEST(LimitsTest, FactsAreFoundAtOnce) {
  std::string trace = "# jtrace-text 1 unit=ns\n";
  for (int i = 0; i < 1'000'000; ++i) {
    const std::string name = std::to_string(i);
    trace += "#@\tsession\tf" + name + "\t1\n#@\tcount\tc" + name + "\t1\tthings\n#@\tloss\tl" +
             name + "\tinfo\t1\twhat\tadvice\n";
  }
  trace += "1\tm\tenter\ta\n";
  const Folder folder(trace);
  const Ended ended = Post(folder, "--report=flat", kLinear);
  EXPECT_EQ(CodeOf(ended), 0) << ended.err;
}

// 6,000 leaves below 6,000 frames: written whole, each format would have 54 million frames.
TEST(LimitsTest, StacksThatShareDeepCallersAreBounded) {
  constexpr int kMany = 6'000;
  std::string trace = "# jtrace-text 1 unit=ns\n";
  for (int i = 0; i < kMany; ++i) {
    trace += "1\tmain\tenter\tcom.acme.B.m" + std::to_string(i) + "()\n";
  }
  for (int i = 0; i < kMany; ++i) {
    const std::string leaf = "com.acme.L.x" + std::to_string(i) + "()\n";
    trace += "2\tmain\tenter\t" + leaf + "2\tmain\texit\t" + leaf;
  }
  const Folder folder(trace);
  for (const std::string report : {"collapsed", "speedscope", "pprof", "otlp"}) {
    const std::string options = "--metric=calls --report=" + report;
    const Ended ended = Post(folder, options, kLinear);
    EXPECT_EQ(CodeOf(ended), 0) << ended.err;
    EXPECT_LT(std::filesystem::file_size(folder.path() + "/out"), 300'000'000u) << report;
    EXPECT_THAT(ended.err, HasSubstr("note: 12,000 stacks would take ")) << report;
    EXPECT_THAT(ended.err, HasSubstr("; --filter=0 writes all, --top=N fewer\n"));
    EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1) << ended.err;
    // What the user chose is done.
    EXPECT_EQ(Post(folder, options + " --top=100").err, "");
    if (report != "collapsed") continue;
    Post(folder, options);
    std::ifstream out(folder.path() + "/out");
    int64_t calls = 0;
    for (std::string line; std::getline(out, line);) {
      calls += std::stoll(line.substr(line.rfind(' ')));
    }
    EXPECT_EQ(calls, 2 * kMany) << "no value is lost";
  }
}

// A method's code has few entries; a trace may name any number.
TEST(LimitsTest, PiecesOfCodeAreFoundAtOnce) {
  std::string trace = "# jtrace-text 1 unit=ns\n";
  for (int i = 1; i <= 1'000'000; ++i) {
    const std::string number = std::to_string(i);
    trace +=
        "1\tm\tjit-load\ta.B.c()\taddress=0x" + number + "\tsize=9\tlevel=4\tosr=" + number + "\n";
  }
  const Folder folder(trace);
  const Ended ended = Post(folder, "--report=summary", kLinear);
  EXPECT_EQ(CodeOf(ended), 0) << ended.err;
}

// Before it is read a trace may be a pipe, of any size; then each adds its limit.
TEST(LimitsTest, TheLimitFollowsTheTraces) {
  TraceBuilder builder;
  builder.Thread("main", 1);
  const std::string trace = builder.Finish();
  std::ostringstream out;
  std::vector<uint64_t> limits;
  std::string last;
  postproc::Environment environment{
      out, out, [&](const std::string&) { return postproc::InputFile::FromMemory(trace); }};
  environment.memory = uint64_t{8} << 30;
  environment.limit_memory = [&](uint64_t bytes, std::string_view message) {
    limits.push_back(bytes);
    last = message;
  };
  EXPECT_EQ(postproc::RunPostProcessor({"--report=summary", "a", "b"}, environment), 0);
  const uint64_t base = uint64_t{1} << 30;
  EXPECT_THAT(limits, ::testing::ElementsAre(uint64_t{6} << 30, base + 1024 * trace.size(),
                                             base + 2048 * trace.size()));
  EXPECT_THAT(last, HasSubstr("this needs more than 1.0 GB of memory, the limit for traces of"));
  EXPECT_THAT(last, HasSubstr("allow more with --limit-memory=SIZE"));
}

// Incomplete output is not left behind.
TEST(LimitsTest, NoPartOfAnOutputIsLeft) {
  TraceBuilder builder;
  builder.Thread("main", 1);
  proto::TreeDelta& tree = *builder.chunk().add_tree();
  tree.set_thread(1);
  for (int i = 0; i < 2'000'000; ++i) tree.add_new_node(1);
  const Folder folder(builder.Finish());
  Post(folder, std::string(kLittle) + "-o report.csv --report=flat --format=csv");
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    EXPECT_THAT(entry.path().filename().string(), ::testing::AnyOf("trace.bin", "out", "err"));
  }
}

// Wherever the memory runs out, that is reported, and nothing else happens.
TEST(LimitsTest, EveryLimitEndsInALineOrAReport) {
  const Folder folder(NestedEntries(1'000'000));
  int reports = 0;
  int failures = 0;
  for (int mebibytes = 64; mebibytes <= 256; mebibytes += 24) {
    const Ended ended =
        Post(folder, "--jobs=3 --report=flat --limit-memory=" + std::to_string(mebibytes) + "m");
    ASSERT_TRUE(WIFEXITED(ended.status)) << mebibytes << ": signal " << WTERMSIG(ended.status);
    const int code = WEXITSTATUS(ended.status);
    ASSERT_TRUE(code == 0 || code == 2) << mebibytes << ": " << code << ended.err;
    EXPECT_EQ(ended.err.empty(), code == 0) << ended.err;
    (code == 0 ? reports : failures) += 1;
  }
  EXPECT_GT(reports, 0);
  EXPECT_GT(failures, 0);
}

}  // namespace
}  // namespace jtrace
