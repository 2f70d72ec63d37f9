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

 private:
  std::string path_;
};

struct Ended {
  int status = 0;  // as from waitpid
  std::string err;
};

// Runs jtrace-post with these options in the folder.
Ended Post(const Folder& folder, const std::string& options) {
  const std::string command = "cd " + folder.path() +
                              " && exec " JTRACE_BINARY_DIR "/bin/jtrace-post " + options +
                              " trace.bin >out 2>err </dev/null";
  Ended ended;
  ended.status = system(command.c_str());
  std::ifstream err(folder.path() + "/err");
  ended.err = {std::istreambuf_iterator<char>(err), {}};
  return ended;
}

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
  for (int i = 0; i < 500'000; ++i) trace += "0\tm\tenter\ta\n";
  ExpectTooLarge(trace, kLittle);
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
  const Folder folder(NestedEntries(200'000));
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
