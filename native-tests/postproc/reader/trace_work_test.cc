#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "native-tests/support/run_post.h"
#include "native-tests/support/trace_builder.h"

// Work that a trace requests: much is done quickly, far more than its size justifies is rejected.
namespace jtrace {
namespace {

using testing::CsvRow;
using ::testing::HasSubstr;
using testing::Rows;
using testing::TraceBuilder;

// Each finds its number at once, not after trying all before it.
TEST(TraceReaderWorkTest, ThreadsWithoutNamesAreManyAndDifferent) {
  constexpr uint32_t kThreads = 20'000;
  TraceBuilder builder;
  for (uint32_t i = 1; i <= kThreads; ++i) {
    builder.chunk().add_thread()->set_id(i);
    builder.Event(1, i, format::kThread, format::kThreadNamed);
    builder.Event(1, i + kThreads, format::kThread, format::kThreadNamed);  // never defined
  }
  const std::vector<CsvRow> rows = Rows(builder.Finish(), "threads", {"thread"});
  EXPECT_EQ(std::set<CsvRow>(rows.begin(), rows.end()).size(), 2 * kThreads);
  EXPECT_THAT(rows, ::testing::Contains(CsvRow{"#0#20000"}));
  EXPECT_THAT(rows, ::testing::Contains(CsvRow{"[thread 40000]"}));
}

// Must end with a line that says why.
void ExpectTooMuchWork(const std::string& trace) {
  EXPECT_LT(trace.size(), 100'000u);
  const testing::RunResult result = testing::RunPost({"t"}, {{"t", trace}});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, HasSubstr("jtrace-post: t requests far more work than a trace of "));
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1);
}

TEST(TraceReaderWorkTest, RecordsThatUnpackWithoutEndAreRejected) {
  proto::Chunk chunk;
  for (int i = 0; i < 400'000; ++i) chunk.add_thread();
  const std::string frame = testing::MakeFrame(chunk.SerializeAsString());
  std::string trace = testing::FileHeader();
  for (int i = 0; i < 20; ++i) trace += frame;
  ExpectTooMuchWork(trace);
}

TEST(TraceReaderWorkTest, ALongTextThatIsNamedOftenIsRejected) {
  TraceBuilder builder;
  builder.Thread("main", 1);
  const uint32_t label = builder.String(std::string(8 << 20, 'x'));
  for (int i = 0; i < 1000; ++i) {
    builder.Event(1, 1, format::kSession, format::kSessionMark).set_text(label);
  }
  ExpectTooMuchWork(builder.Finish());
}

// Two threads with hundreds of thousands of activations each; the time for one is that of a frame.
TEST(TraceReaderWorkTest, SamplesOfDeepStacksFindTheirPlacesQuickly) {
  constexpr int kDepth = 300'000;
  TraceBuilder builder;
  const uint32_t owner = builder.Class("A");
  const uint32_t run = builder.Routine(owner, "run", "()V");
  const uint32_t f = builder.Routine(owner, "f", "()V");
  builder.Method(owner, "run", "()V");
  for (const uint32_t thread : {builder.Thread("a", 1), builder.Thread("b", 2)}) {
    proto::EventLog& log = *builder.chunk().add_log();
    log.set_thread(thread);
    log.add_op(run << format::kLogRoutineShift);
    for (int i = 0; i < kDepth; ++i) log.add_op(f << format::kLogRoutineShift);
  }
  builder.Seal();
  const uint32_t frame = builder.Frame(proto::Frame::COMPILED, 1);
  for (uint32_t i = 0; i < 40'000; ++i) builder.Sample(i + 1, 1 + i % 2, 0, {frame});
  const std::vector<CsvRow> rows = Rows(builder.Finish(), "flat", {"name", "calls", "base_ticks"});
  EXPECT_THAT(rows, ::testing::Contains(CsvRow{"A.run()", "2", "40000"}));
  EXPECT_THAT(rows, ::testing::Contains(CsvRow{"A.f()", "600000", "0"}));
}

}  // namespace
}  // namespace jtrace
