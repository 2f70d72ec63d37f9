#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <vector>

#include "native-tests/support/run_post.h"
#include "native-tests/support/trace_builder.h"

// Traces that were cut, changed or removed: the remains are read, the losses reported.
namespace jtrace {
namespace {

using testing::CsvRow;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::ReportCsv;
using testing::Rows;
using testing::TraceBuilder;

// Three frames, each with one thread and a separate node.
std::vector<std::string> ThreeFrames(TraceBuilder& builder) {
  std::vector<std::string> frames;
  size_t before = builder.Finish().size();
  for (int i = 0; i < 3; ++i) {
    const uint32_t thread = builder.Thread("t" + std::to_string(i), i + 1);
    const uint32_t routine = builder.Routine(builder.Class("A"), "f", "()V");
    builder.Count(thread, builder.Node(thread, 0, routine), 1);
    builder.Seal();
    frames.push_back(builder.Finish().substr(before));
    before = builder.Finish().size();
  }
  return frames;
}

TEST(TraceReaderDamageTest, EveryCutLeavesTheWholeFrames) {
  TraceBuilder builder;
  const std::vector<std::string> frames = ThreeFrames(builder);
  const std::string whole = builder.Finish();
  const size_t second = testing::FileHeader().size() + frames[0].size();
  const size_t third = second + frames[1].size();
  for (size_t size = testing::FileHeader().size(); size <= whole.size(); ++size) {
    const testing::RunResult result =
        testing::RunPost({"--report=threads", "--format=csv", "t"}, {{"t", whole.substr(0, size)}});
    // Nothing is not a result.
    ASSERT_EQ(result.exit_code, size < second ? 2 : 0) << size;
    if (size < second) {
      ASSERT_THAT(result.err, HasSubstr("t holds nothing")) << size;
      continue;
    }
    const size_t expected = size < third ? 1 : size < whole.size() ? 2 : 3;
    ASSERT_EQ(testing::ParseCsv(result.out).rows.size(), expected) << size;
    const bool on_boundary = size == second || size == third || size == whole.size();
    ASSERT_EQ(result.err.empty(), on_boundary) << size << result.err;
  }
}

TEST(TraceReaderDamageTest, OneFlippedByteLosesOneFrame) {
  TraceBuilder builder;
  const std::vector<std::string> frames = ThreeFrames(builder);
  const std::string whole = builder.Finish();
  const size_t second = testing::FileHeader().size() + frames[0].size();
  for (size_t at = second; at < second + frames[1].size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
    const testing::RunResult result =
        testing::RunPost({"--report=threads", "--format=csv", "t"}, {{"t", damaged}});
    ASSERT_EQ(result.exit_code, 0);
    ASSERT_THAT(result.out, HasSubstr("t0,1,1,"));
    // A length of 0 or a frame that cannot be decompressed also loses only its frame.
    ASSERT_THAT(result.out, HasSubstr("t2,3,1,"));
    ASSERT_THAT(result.out, Not(HasSubstr("t1,2,1,")));
    ASSERT_THAT(result.err, HasSubstr("1 chunk missing"));
  }
}

TEST(TraceReaderDamageTest, MissingChunksAreCounted) {
  TraceBuilder builder;
  builder.Thread("a", 1);
  builder.Seal();
  builder.LoseChunk();
  builder.LoseChunk();
  builder.Thread("b", 2);
  const testing::RunResult result = testing::RunPost({"t"}, {{"t", builder.Finish()}});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.err, HasSubstr("2 chunks missing"));
}

// Only the remaining part shows how much is lost.
TEST(TraceReaderDamageTest, ACutTraceSaysHowFarItGoes) {
  TraceBuilder builder;
  builder.Thread("a", 1);
  builder.Sample(5, 1, 0, {});
  builder.chunk().set_time_ns(1'250'000'000);
  builder.Seal();
  const size_t first = builder.Finish().size();
  builder.Thread("b", 2);
  builder.chunk().mutable_session_end();
  const std::string whole = builder.Finish();
  const testing::RunResult cut = testing::RunPost({"t"}, {{"t", whole.substr(0, first + 9)}});
  EXPECT_THAT(cut.err, HasSubstr("t: cut off: it holds the recording up to 1.25 s\n"));
  EXPECT_THAT(cut.out, HasSubstr("all later records if the file was cut"));
  const testing::RunResult behind = testing::RunPost({"t"}, {{"t", whole + "0123456789"}});
  EXPECT_THAT(behind.err, HasSubstr("10 bytes after the trace's last record, ignored"));
  EXPECT_THAT(behind.err, Not(HasSubstr("cut off")));
  EXPECT_EQ(testing::RunPost({"t"}, {{"t", whole}}).err, "");
}

// Definitions alone are not a result, with or without a last record.
TEST(TraceReaderDamageTest, ATraceThatLostAllThatTheProgramDidIsRejected) {
  TraceBuilder builder;
  const uint32_t thread = builder.Thread("a", 1);
  const uint32_t routine = builder.Routine(builder.Class("A"), "f", "()V");
  builder.Seal();
  const size_t first = builder.Finish().size();
  builder.Count(thread, builder.Node(thread, 0, routine), 5);
  builder.Seal();
  const size_t second = builder.Finish().size();
  builder.chunk().mutable_session_end()->set_calls(5);
  const std::string whole = builder.Finish();
  std::string damaged = whole;
  damaged[second - 1] = static_cast<char>(damaged[second - 1] ^ 1);
  for (const std::string& trace : {whole.substr(0, second - 1), damaged}) {
    const testing::RunResult result = testing::RunPost({"t"}, {{"t", trace}});
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.err, HasSubstr("t was cut or damaged: no record of the program is in the"));
  }
  EXPECT_EQ(testing::RunPost({"t"}, {{"t", whole}}).exit_code, 0);
  EXPECT_EQ(testing::RunPost({"t"}, {{"t", whole.substr(0, first)}}).exit_code, 0);
}

// Without the chunk that defines them they have no names, but their calls are the program's.
TEST(TraceReaderDamageTest, CountsOfNodesWithoutDefinitionAreKept) {
  TraceBuilder builder;
  const uint32_t thread = builder.Thread("a", 1);
  const uint32_t routine = builder.Routine(builder.Class("A"), "f", "()V");
  builder.Seal();
  const size_t first = builder.Finish().size();
  const uint32_t lost = builder.Node(thread, 0, routine);
  builder.Count(thread, lost, 3);
  builder.Seal();
  const size_t second = builder.Finish().size();
  builder.Count(thread, lost, 7);
  builder.Count(thread, builder.Node(thread, lost, routine), 5);
  builder.Sample(5, thread, lost, {});
  builder.chunk().mutable_session_end()->set_calls(12);
  std::string trace = builder.Finish();
  trace.erase(first, second - first);
  EXPECT_THAT(Rows(trace, "tree", {"level", "calls", "cum_ticks", "name"}),
              ElementsAre(CsvRow{"0", "1", "1", "a"}, CsvRow{"1", "7", "1", "[lost]"},
                          CsvRow{"2", "0", "1", "[no_frames]"}, CsvRow{"2", "5", "0", "A.f()"}));
  const std::string err = testing::RunPost({"t"}, {{"t", trace}}).err;
  EXPECT_THAT(err, HasSubstr("node 1 was never defined"));
  EXPECT_THAT(err, Not(HasSubstr("control sum")));
  const std::string dump = testing::RunPost({"dump", "t"}, {{"t", trace}}).out;
  EXPECT_EQ(ReportCsv(dump, {"--report=tree"}), ReportCsv(trace, {"--report=tree"}));
}

TEST(TraceReaderDamageTest, AGapInTheMiddleHasATime) {
  TraceBuilder builder;
  for (const uint64_t second : {1, 2, 3, 4}) {
    builder.chunk().set_time_ns(second * 1'000'000'000);
    builder.Thread("a", static_cast<int64_t>(second));
    if (second == 3) builder.LoseChunk();
    builder.Seal();
  }
  EXPECT_THAT(testing::RunPost({"t"}, {{"t", builder.Finish()}}).err,
              HasSubstr("t: chunks are missing between 2.00 s and 3.00 s of the recording"));
}

TEST(TraceReaderDamageTest, ATraceWithoutItsBeginningIsReported) {
  TraceBuilder builder;
  const std::vector<std::string> frames = ThreeFrames(builder);
  const std::string whole = builder.Finish();
  std::string zeroed = whole;
  zeroed.replace(0, 40, 40, '\0');
  for (const std::string& trace : {whole.substr(20), zeroed}) {
    const testing::RunResult result = testing::RunPost({"t"}, {{"t", trace}});
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.err, HasSubstr("t: the beginning of this trace is missing: its first "));
  }
}

// Marks with large lengths: each check could take as long as its length.
TEST(TraceReaderDamageTest, AFileFullOfMarksIsRejectedSoon) {
  const std::string mark = testing::MakeFrame("x").substr(0, 4);
  const std::string head = mark + std::string("\0\0\4\0\1\0\0\0\0\0\0\0", 12);  // 256 KB
  std::string trace = testing::FileHeader();
  for (int i = 0; i < 200'000; ++i) trace += head;
  const testing::RunResult result = testing::RunPost({"t"}, {{"t", trace}});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("holds nothing that can be read"));
}

TEST(TraceReaderDamageTest, AFileThatShrinksMeanwhileIsRejected) {
  TraceBuilder builder;
  builder.chunk().mutable_session_start()->set_pid(1);
  builder.Thread("a", 1);
  for (uint32_t i = 0; i < 2000; ++i) {
    builder.String("a string that is new " + std::to_string(uint64_t{7919} * i * i));
    builder.Seal();
  }
  const std::string path = ::testing::TempDir() + "/shrinks." + std::to_string(getpid());
  std::ofstream(path, std::ios::binary) << builder.Finish();
  for (const char* jobs : {"--jobs=1", "--jobs=3"}) {
    // Called between the passes.
    const auto shorten = [&](int64_t, const std::string& file) {
      EXPECT_EQ(truncate(file.c_str(), 5000), 0);
      return false;
    };
    std::ofstream(path, std::ios::binary) << builder.Finish();
    const testing::RunResult result = testing::RunPost({jobs, path}, {}, shorten);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_EQ(result.err, "jtrace-post: " + path +
                              " became shorter while it was read: something rewrites it; read "
                              "it again\n");
  }
  unlink(path.c_str());
}

TEST(TraceReaderDamageTest, NodesOfALostParentAreUnderLost) {
  TraceBuilder builder;
  const uint32_t thread = builder.Thread("a", 1);
  const uint32_t routine = builder.Routine(builder.Class("A"), "f", "()V");
  builder.Count(thread, builder.Node(thread, 77, routine), 5);
  EXPECT_THAT(
      Rows(builder.Finish(), "tree", {"level", "calls", "name"}),
      ElementsAre(CsvRow{"0", "1", "a"}, CsvRow{"1", "0", "[lost]"}, CsvRow{"2", "5", "A.f()"}));
}

TEST(TraceReaderDamageTest, ANewerVersionIsRejectedByItsNumber) {
  const testing::RunResult result = testing::RunPost({"t"}, {{"t", testing::FileHeader(2)}});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("version 2 is newer"));
}

TEST(TraceReaderDamageTest, OtherFilesAreRejected) {
  for (const std::string content : {"", "hello\n", "JTRACE\r\n", "JTRACE\r"}) {
    EXPECT_EQ(testing::RunPost({"t"}, {{"t", content}}).exit_code, 2);
  }
}

TEST(TraceReaderDamageTest, ControlSumIsChecked) {
  TraceBuilder builder;
  const uint32_t thread = builder.Thread("a", 1);
  const uint32_t routine = builder.Routine(builder.Class("A"), "f", "()V");
  builder.Count(thread, builder.Node(thread, 0, routine), 5);
  builder.chunk().mutable_session_end()->set_calls(6);
  EXPECT_THAT(testing::RunPost({"t"}, {{"t", builder.Finish()}}).err,
              HasSubstr("the trees hold 5 calls, the agent counted 6"));
}

// A frame that claims 4 GB is damage, not a reason to allocate them.
TEST(TraceReaderDamageTest, ClaimedSizesAreBounded) {
  std::string trace = testing::FileHeader();
  std::string frame = testing::MakeFrame("x");
  for (size_t i = 8; i < 12; ++i) frame[i] = '\xff';
  TraceBuilder builder;
  builder.Thread("a", 1);
  trace += frame + builder.Finish().substr(testing::FileHeader().size());
  EXPECT_THAT(testing::RunPost({"t"}, {{"t", trace}}).err, HasSubstr("frames were damaged"));
}

}  // namespace
}  // namespace jtrace
