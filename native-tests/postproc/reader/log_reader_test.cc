// Logs, and other content of a chunk that must not be trusted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <string>
#include <vector>

#include "native-tests/support/log_trace.h"
#include "native-tests/support/run_post.h"
#include "native-tests/support/small_logs.h"
#include "native-tests/support/trace_builder.h"

namespace jtrace {
namespace {

using testing::AddLog;
using ::testing::Contains;
using testing::CsvRow;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::kEnterF;
using testing::kEnterG;
using testing::kExitF;
using testing::kExitG;
using testing::ReportCsv;
using testing::Rows;
using testing::TraceBuilder;
using testing::TwoRoutines;

TEST(LogReaderTest, ADroppedStretchTakesItsTimeAndLeavesTheDepth) {
  TraceBuilder builder = TwoRoutines();
  AddLog(builder, 0, {kEnterF, kEnterG, kExitG}, {0, 10, 20});
  builder.Event(130, 1, format::kSession, format::kSessionLoss, 1000);
  AddLog(builder, 140, {kEnterG, kExitG, kExitF}, {0, 5, 5});
  const std::string trace = builder.Finish();
  EXPECT_THAT(Rows(trace, "tree", {"level", "calls", "base", "cum", "max_base", "name"}),
              ElementsAre(CsvRow{"0", "1", "0", "150", "0", "main"},
                          CsvRow{"1", "1", "25", "150", "25", "A.f()"},
                          CsvRow{"2", "0", "100", "100", "0", "[dropped]"},
                          CsvRow{"2", "2", "25", "25", "20", "A.g()"}));
  EXPECT_THAT(testing::RunPost({"--report=summary", "t"}, {{"t", trace}}).out,
              HasSubstr("1,000 entries and exits left out of the log"));
}

// The owner of the time around a switch is not known before the next record.
TEST(LogReaderTest, TimeOffTheProcessorsInADroppedStretchIsTheStretchs) {
  TraceBuilder builder = TwoRoutines();
  AddLog(builder, 0, {kEnterF}, {0});
  builder.Event(30, 1, format::kThreadSwitch, format::kSwitch | format::kEnd);
  builder.Event(90, 1, format::kThreadSwitch, format::kSwitch);
  builder.Event(130, 1, format::kSession, format::kSessionLoss, 1000);
  builder.Event(140, 1, format::kThreadSwitch, format::kSwitch | format::kEnd);
  AddLog(builder, 145, {kExitF}, {0});
  EXPECT_THAT(Rows(builder.Finish(), "tree", {"level", "base", "elapsed", "name"}),
              ElementsAre(CsvRow{"0", "0", "145", "main"}, CsvRow{"1", "10", "145", "A.f()"},
                          CsvRow{"2", "70", "130", "[dropped]"}));
}

constexpr uint32_t kAt = 1;
constexpr uint32_t kLeftOut = 2;

// Activations on the way are closed or opened; nothing is counted twice.
TEST(LogReaderTest, AGapEndsAtAnyNode) {
  TraceBuilder builder = TwoRoutines();
  const uint32_t f = builder.Node(1, 0, 1);
  const uint32_t g = builder.Node(1, 0, 2);
  const uint32_t g_f = builder.Node(1, g, 1);
  builder.Count(1, g, 1);
  builder.Count(1, g_f, 8);
  AddLog(builder, 0, {kEnterF, kEnterG, kAt, f, kAt, 0, kLeftOut, 18, kAt, g_f, kExitF, kExitG},
         {0, 10, 20, 0, 5, 0, 100, 0, 0, 0, 7, 3});
  const std::string trace = builder.Finish();
  EXPECT_THAT(
      Rows(trace, "tree", {"level", "calls", "base", "cum", "name"}),
      ElementsAre(CsvRow{"0", "1", "0", "145", "main"}, CsvRow{"1", "0", "100", "100", "[dropped]"},
                  CsvRow{"1", "1", "15", "35", "A.f()"}, CsvRow{"2", "1", "20", "20", "A.g()"},
                  CsvRow{"1", "1", "3", "10", "A.g()"}, CsvRow{"2", "8", "7", "7", "A.f()"}));
}

// A position corrects a reader that lost a part of the log, or accepted a wrong exit.
TEST(LogReaderTest, APositionKeepsOpenActivations) {
  TraceBuilder builder = TwoRoutines();
  const uint32_t f = builder.Node(1, 0, 1);
  const uint32_t f_f = builder.Node(1, f, 1);
  AddLog(builder, 0, {kEnterF, kEnterF, kEnterF, kExitG, kAt, f_f, kEnterG, kExitG, kExitF, kExitF},
         {0, 1, 1, 1, 0, 0, 1, 1, 1, 1});
  EXPECT_THAT(Rows(builder.Finish(), "tree", {"level", "calls", "max_base", "name"}),
              ElementsAre(CsvRow{"0", "1", "0", "main"}, CsvRow{"1", "1", "2", "A.f()"},
                          CsvRow{"2", "1", "3", "A.f()"}, CsvRow{"3", "1", "1", "A.f()"},
                          CsvRow{"3", "1", "1", "A.g()"}));
}

TEST(LogReaderTest, APositionAtAMissingNodeIsLost) {
  TraceBuilder builder = TwoRoutines();
  AddLog(builder, 0, {kEnterF, kAt, 99, kEnterG}, {});
  const std::string trace = builder.Finish();
  EXPECT_THAT(Rows(trace, "tree", {"level", "calls", "name"}),
              ElementsAre(CsvRow{"0", "1", "main"}, CsvRow{"1", "1", "A.f()"},
                          CsvRow{"1", "0", "[lost]"}, CsvRow{"2", "1", "A.g()"}));
  EXPECT_THAT(testing::RunPost({"t"}, {{"t", trace}}).err, HasSubstr("node 99 was never defined"));
}

// Taken modulo 2^32 it would be a node.
TEST(LogReaderTest, APositionAtAnOverlongNumberIsLost) {
  TraceBuilder builder = TwoRoutines();
  ASSERT_EQ(builder.Node(1, 0, 1), 1u);
  // thread 1; op: 1, 2^32 + 1
  const std::string log("\x08\x01\x1a\x06\x01\x81\x80\x80\x80\x10", 10);
  const std::string chunk = builder.chunk().SerializeAsString() + std::string("\x8a\x01\x0a") + log;
  const std::string trace = testing::FileHeader() + testing::MakeFrame(chunk);
  EXPECT_THAT(Rows(trace, "tree", {"level", "name"}), Contains(CsvRow{"1", "[lost]"}));
  EXPECT_THAT(testing::RunPost({"t"}, {{"t", trace}}).err,
              HasSubstr("node 4294967297 was never defined"));
}

TEST(LogReaderTest, APositionAtANodeOfAnotherThreadIsLost) {
  TraceBuilder builder = TwoRoutines();
  const uint32_t other = builder.Thread("other", 2);
  const uint32_t g = builder.Node(other, 0, 2);
  AddLog(builder, 0, {kEnterF, kAt, g, kEnterF}, {});
  const std::string trace = builder.Finish();
  EXPECT_THAT(Rows(trace, "tree", {"level", "calls", "name"}),
              Contains(CsvRow{"1", "0", "[lost]"}));
  EXPECT_THAT(testing::RunPost({"t"}, {{"t", trace}}).err,
              HasSubstr("node " + std::to_string(g) + " is not of thread 1"));
}

TEST(LogReaderTest, AMemberOfAGroupIsInTheGroupsTree) {
  TraceBuilder builder = TwoRoutines();
  const uint32_t group = builder.Thread("[virtual threads]", 0);
  const uint32_t g = builder.Node(group, 0, 2);
  builder.Count(group, g, 1);
  builder.chunk().mutable_tree()->rbegin()->set_folded_threads(3);
  AddLog(builder, 0, {kAt, g, kEnterF}, {});
  const std::string trace = builder.Finish();
  EXPECT_THAT(Rows(trace, "tree", {"level", "calls", "name"}), Contains(CsvRow{"2", "1", "A.f()"}));
  EXPECT_EQ(testing::RunPost({"t"}, {{"t", trace}}).err, "");
}

// A chain of this many nodes below thread 1's root; the innermost.
uint32_t Chain(TraceBuilder& builder, uint32_t depth) {
  uint32_t node = 0;
  for (uint32_t i = 0; i < depth; ++i) node = builder.Node(1, node, 1);
  return node;
}

// Programs that throw deep in a stack: only the difference counts. Walked from the root these would
// be 400 million steps, far beyond the bound.
TEST(LogReaderTest, ManyPositionsDeepInAStackAreFollowed) {
  TraceBuilder builder = TwoRoutines();
  const uint32_t leaf = Chain(builder, 2000);
  std::vector<uint32_t> ops;
  for (uint32_t i = 0; i < 100000; ++i) {
    ops.insert(ops.end(), {kAt, leaf - i % 2, kEnterG, kAt, leaf - 1});
  }
  AddLog(builder, 0, ops, {});
  const std::string trace = builder.Finish();
  EXPECT_EQ(testing::RunPost({"t"}, {{"t", trace}}).err, "");
  const auto flat = Rows(trace, "flat", {"calls", "name"});
  EXPECT_THAT(flat, Contains(CsvRow{"100000", "A.g()"}));
}

// No program moves from one end of a deep stack to the other in no time; a small file made so would
// keep its reader busy for ever.
TEST(LogReaderTest, PositionsThatJumpThroughADeepStackHaveABound) {
  for (const uint32_t away : {0u, 99999u}) {  // the root, and a node that is missing
    TraceBuilder builder = TwoRoutines();
    const uint32_t leaf = Chain(builder, 3000);
    std::vector<uint32_t> ops;
    for (int i = 0; i < 10000; ++i) ops.insert(ops.end(), {kAt, leaf, kAt, away});
    AddLog(builder, 0, ops, {});
    EXPECT_THAT(testing::RunPost({"t"}, {{"t", builder.Finish()}}).err,
                HasSubstr("positions in event logs too far from those before them"));
  }
}

// One exit may end a whole stack in the tree, although no position was far from the one before it.
TEST(LogReaderTest, ExitsOfTheOutermostActivationHaveABound) {
  TraceBuilder builder = TwoRoutines();
  uint32_t leaf = builder.Node(1, 0, 2);
  for (int i = 0; i < 3000; ++i) leaf = builder.Node(1, leaf, 1);
  std::vector<uint32_t> ops;
  for (int i = 0; i < 10000; ++i) ops.insert(ops.end(), {kAt, leaf, kExitG});
  AddLog(builder, 0, ops, {});
  EXPECT_THAT(testing::RunPost({"t"}, {{"t", builder.Finish()}}).err,
              HasSubstr("positions in event logs too far from those before them"));
}

TEST(LogReaderTest, AMarkWithoutItsValueIsDamage) {
  TraceBuilder builder = TwoRoutines();
  AddLog(builder, 0, {kEnterF, kAt}, {0, 1});
  const testing::RunResult result = testing::RunPost({"t"}, {{"t", builder.Finish()}});
  EXPECT_THAT(result.err, HasSubstr("1 event log that cannot be read to its end"));
}

TEST(LogReaderTest, SwitchesAndSamplesFindTheirPlaceInTheLog) {
  TraceBuilder builder = TwoRoutines();
  AddLog(builder, 0, {kEnterF, kEnterG, kExitG, kExitF}, {0, 10, 40, 50});
  builder.Event(20, 1, format::kThreadSwitch, format::kEnd + 1);
  builder.Event(25, 1, format::kThreadSwitch, 1);
  builder.Sample(60, 1, 0, {builder.Frame(proto::Frame::KERNEL, builder.String("k"))});
  EXPECT_THAT(Rows(builder.Finish(), "tree", {"level", "base", "off", "elapsed", "ticks", "name"}),
              ElementsAre(CsvRow{"0", "0", "0", "100", "<none>", "main"},
                          CsvRow{"1", "60", "0", "100", "<none>", "A.f()"},
                          CsvRow{"2", "35", "5", "40", "<none>", "A.g()"},
                          CsvRow{"1", "0", "0", "0", "<none>", "[unmatched]"},
                          CsvRow{"2", "0", "0", "0", "<none>", "k"}));
}

// Fields in pieces or unpacked work too, but slower.
TEST(LogReaderTest, ReadsLogsWithFieldsInPieces) {
  TraceBuilder builder = TwoRoutines();
  const std::string plain = [] {
    TraceBuilder other = TwoRoutines();
    AddLog(other, 5, {kEnterF, kExitF}, {0, 300});
    return other.Finish();
  }();
  proto::EventLog first;
  first.set_thread(1);
  first.set_time_ns(5);
  first.add_op(kEnterF);
  first.add_delta_ns(0);
  proto::EventLog second;
  second.add_op(kExitF);
  second.add_delta_ns(300);
  const std::string pieces = first.SerializeAsString() + second.SerializeAsString();
  std::string chunk = builder.chunk().SerializeAsString();
  chunk += '\x8a';
  chunk += '\x01';  // field 17, length-delimited
  chunk += static_cast<char>(pieces.size());
  chunk += pieces;
  const std::string trace = testing::FileHeader() + testing::MakeFrame(chunk);
  EXPECT_EQ(ReportCsv(trace, {"--report=tree"}), ReportCsv(plain, {"--report=tree"}));
}

TEST(LogReaderTest, ADamagedLogIsReportedAndReadToTheDamage) {
  TraceBuilder builder = TwoRoutines();
  std::string chunk = builder.chunk().SerializeAsString();
  const std::string log =
      std::string("\x08\x01\x10\x05\x1a\x02\x04\xff", 8);  // op: 4, half a number
  chunk += std::string("\x8a\x01\x08", 3) + log;
  const std::string trace = testing::FileHeader() + testing::MakeFrame(chunk);
  EXPECT_THAT(Rows(trace, "tree", {"level", "calls", "name"}),
              ElementsAre(CsvRow{"0", "1", "main"}, CsvRow{"1", "1", "A.f()"}));
  EXPECT_THAT(testing::RunPost({"t"}, {{"t", trace}}).err,
              HasSubstr("1 event log that cannot be read to its end"));
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

// The most memory that the process has had. Sanitizers add shadow memory and keep freed memory:
// under them it is 0, and only the results are checked.
int64_t PeakKilobytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return kSanitized ? 0 : usage.ru_maxrss;
}

// 64 MiB of empty samples would be 3 GB of objects.
TEST(LogReaderTest, AChunkThatWouldTakeGigabytesIsRejected) {
  std::string payload;
  payload.reserve(format::kMaxPayloadSize);
  while (payload.size() + 2 <= format::kMaxPayloadSize) payload += std::string("\x7a\x00", 2);
  TraceBuilder builder;
  builder.Thread("after", 1);
  const std::string trace = testing::FileHeader() + testing::MakeFrame(payload) +
                            builder.Finish().substr(testing::FileHeader().size());
  payload = {};
  const int64_t before = PeakKilobytes();
  const testing::RunResult result =
      testing::RunPost({"--report=summary", "--format=csv", "t"}, {{"t", trace}});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.err, HasSubstr("1 frame whose content would take more than 1 GiB of memory"));
  EXPECT_LT(PeakKilobytes() - before, 300 * 1024);
}

// Memory depends on the tree and the chunk, not on the length of the log.
TEST(LogReaderTest, ALongLogIsReadInBoundedMemory) {
  testing::LogTraceOptions options;
  options.events = kSanitized ? 1000000 : 10000000;
  options.threads = 3;
  const std::string trace = testing::LogTrace(options);
  const int64_t before = PeakKilobytes();
  const testing::Csv summary =
      testing::ParseCsv(ReportCsv(trace, {"--report=summary", "--jobs=2"}));
  EXPECT_LT(PeakKilobytes() - before, 100 * 1024);  // the events would take 160 MB
  std::string calls;
  std::string begins;
  std::string ends;
  for (const CsvRow& row : summary.rows) {
    if (row[0] == "calls") calls = row[1];
    if (row[0] == "records.0x50/0x10") begins = row[1];
    if (row[0] == "records.0x50/0x80000010") ends = row[1];
  }
  EXPECT_EQ(calls, begins);
  EXPECT_EQ(begins, ends);  // all activations are closed
  EXPECT_GT(std::stoll(calls), static_cast<int64_t>(options.events) * 49 / 100);
}

}  // namespace
}  // namespace jtrace
