// The timeline: nested slices of every activation, and rejected traces.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "native-tests/postproc/export/export_test_support.h"
#include "native-tests/support/random_log.h"
#include "native-tests/support/random_trace.h"
#include "native-tests/support/trace_builder.h"

namespace jtrace {
namespace {

using ::testing::ElementsAre;
using testing::Export;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::PathValues;
using testing::RunPost;
using testing::RunResult;
using testing::Timeline;
using ::testing::UnorderedElementsAre;

constexpr char kTrace[] =
    "# jtrace-text 1 unit=us\n#@\tsession\tpid\t4711\n#@\tsession\tcommand\tapp.jar\n"
    "0\tmain\tthread-start\n0\tmain\tenter.i\tA\n2\tmain\tenter.j\tB\n3\tmain\toff\n5\tmain\ton\n"
    "6\tmain\tsample*4\tA\tB\tN:libc.so.6!read\n7\tmain\texit\tA\n"
    "7\t\tgc-begin\tG1 Pause\tvalue=1\n8\tmain\tmetric\tbytes\t12\n9\t\tgc-end\tvalue=1\n"
    "9\tmain\tmetric\tbytes\t-2\n9\tmain\tmark\there\n9\tpool\tenter\tC\n12\tpool\tenter\tD\n";

TEST(PerfettoTest, ShowsCallsOffStretchesSamplesAndCollections) {
  const Timeline timeline = testing::ParseTimeline(Export(kTrace, "perfetto"));
  EXPECT_THAT(timeline.mistakes, IsEmpty());
  EXPECT_EQ(timeline.processes, (std::map<int64_t, std::string>{{4711, "app.jar"}}));
  EXPECT_THAT(timeline.threads, UnorderedElementsAre("main", "pool", "garbage collections"));
  EXPECT_EQ(timeline.durations, (PathValues{{{"main", "A"}, 7000},
                                            {{"main", "A", "B"}, 5000},
                                            {{"main", "A", "B", "[off]"}, 2000},
                                            {{"garbage collections", "G1 Pause"}, 2000},
                                            {{"pool", "C"}, 3000},
                                            {{"pool", "C", "D"}, 0}}));
  EXPECT_EQ(timeline.categories,
            (std::map<std::string, int>{{"interpreted", 1}, {"compiled", 1}, {"", 4}}));
  ASSERT_EQ(timeline.instants.size(), 2U);
  EXPECT_EQ(timeline.instants[0].name, "read");
  EXPECT_EQ(timeline.instants[0].stack, "A > B > N:libc.so.6!read");
  EXPECT_EQ(timeline.instants[0].weight, 4);
  EXPECT_EQ(timeline.instants[0].time_us, 6);
  EXPECT_EQ(timeline.instants[1].name, "here");
  EXPECT_EQ(timeline.last_totals.at("bytes"), 10);
  EXPECT_EQ(timeline.about.at("command"), "app.jar");
}

TEST(PerfettoTest, SegmentsAreSlicesOfATrackOfTheirThread) {
  constexpr char kSegments[] =
      "# jtrace-text 1 unit=us\n0\tmain\tenter\tA\n1\tmain\tsegment-begin\torder\n"
      "2\tmain\tsegment-begin\tpay\n4\tmain\tsegment-end\tpay\tvalue=2\n5\tmain\texit\tA\n"
      "6\tmain\tsegment-end\torder\n6\t\tsegments\tpay\tcount=1\ttotal=1\n"
      "7\tpool\tsegment-end\tload\tvalue=3\n";
  const Timeline timeline = testing::ParseTimeline(Export(kSegments, "perfetto"));
  EXPECT_THAT(timeline.mistakes, IsEmpty());
  EXPECT_THAT(timeline.threads,
              UnorderedElementsAre("main", "main: segments", "pool", "pool: segments"));
  EXPECT_EQ(timeline.durations, (PathValues{{{"main", "A"}, 5000},
                                            {{"main: segments", "order"}, 5000},
                                            {{"main: segments", "pay"}, 2000},
                                            {{"pool: segments", "load"}, 3000}}));
  EXPECT_EQ(timeline.categories, (std::map<std::string, int>{{"", 1}, {"segment", 3}}));
}

TEST(PerfettoTest, ShowsGapsOfTheLog) {
  const Timeline timeline = testing::ParseTimeline(
      Export("# jtrace-text 1 unit=ns\n0\tm\tenter\tA\n5\tm\tposition\tA\tB\n"
             "9\tm\tsession-loss\tvalue=6\n9\tm\tposition\tA\n11\tm\texit\tA\n",
             "perfetto"));
  EXPECT_THAT(timeline.mistakes, IsEmpty());
  EXPECT_EQ(
      timeline.durations,
      (PathValues{{{"m", "A"}, 11}, {{"m", "A", "B"}, 4}, {{"m", "A", "B", "[dropped]"}, 4}}));
  EXPECT_EQ(timeline.categories.at("entered-before"), 1);
}

TEST(PerfettoTest, SelectsThreadsAndRoots) {
  const Timeline pool = testing::ParseTimeline(Export(kTrace, "perfetto", {"--thread=pool"}));
  EXPECT_THAT(pool.threads, ElementsAre("pool"));
  const Timeline below = testing::ParseTimeline(Export(kTrace, "perfetto", {"--root=B"}));
  EXPECT_EQ(below.durations, (PathValues{{{"main", "B"}, 5000},
                                         {{"main", "B", "[off]"}, 2000},
                                         {{"garbage collections", "G1 Pause"}, 2000}}));
  EXPECT_THAT(below.mistakes, IsEmpty());
  const RunResult none = RunPost({"--report=perfetto", "--root=Z", "t"}, {{"t", kTrace}});
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_THAT(none.err, HasSubstr("--root: no routine 'Z' in the trace"));
}

TEST(PerfettoTest, RejectsTracesWithoutEntriesOrTimes) {
  const std::string head = "# jtrace-text 1 unit=ns\n";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {head + "5\tmain\tsample\tA\n5\tmain\tnode\tcalls=4\tA\n", "no entries and exits"},
      {head + "#@\tsession\tclock\tnone\n5\tmain\tenter\tA\n5\tmain\texit\tA\n", "no times"},
      {head, "no entries and exits"}};
  for (const auto& [trace, why] : cases) {
    const RunResult result = RunPost({"--report=perfetto", "t"}, {{"t", trace}});
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err, HasSubstr("perfetto: the trace has "));
    EXPECT_THAT(result.err, HasSubstr(why));
    EXPECT_THAT(result.err, HasSubstr("record=log,clock=tsc"));
  }
}

TEST(PerfettoTest, RejectsOptionsThatLeaveOutRecords) {
  for (const char* option : {"--top=3", "--filter=1", "--metric=calls"}) {
    const RunResult result = RunPost({"--report=perfetto", option, "t"}, {{"t", kTrace}});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.err, HasSubstr("--report=perfetto has every record"));
  }
}

// Records before the first entry are kept up to 16 MB.
TEST(PerfettoTest, HoldsBackRecordsBeforeTheFirstEntry) {
  const std::string sample = "5\tmain\tsample\t" + std::string(1000, 'x') + "\n";
  const std::string calls = "6\tmain\tenter\tA\n7\tmain\texit\tA\n";
  std::string trace = "# jtrace-text 1 unit=ns\n";
  for (int i = 0; i < 1000; ++i) trace += sample;
  const Timeline timeline = testing::ParseTimeline(Export(trace + calls, "perfetto"));
  EXPECT_EQ(timeline.instants.size(), 1000U);
  EXPECT_THAT(timeline.mistakes, IsEmpty());
  for (int i = 0; i < 19'000; ++i) trace += sample;
  const RunResult result = RunPost({"--report=perfetto", "t"}, {{"t", trace + calls}});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, HasSubstr("begin too late"));
}

TEST(PerfettoTest, TracksOfSeveralTracesAreSeparate) {
  const std::string trace = "# jtrace-text 1 unit=ns\n#@\tsession\tpid\t7\n";
  const RunResult result = RunPost({"--report=perfetto", "a", "b"},
                                   {{"a", trace + "5\tmain\tenter\tA\n8\tmain\texit\tA\n"},
                                    {"b", trace + "6\tmain\tenter\tB\n7\tmain\texit\tB\n"}});
  const Timeline timeline = testing::ParseTimeline(result.out);
  EXPECT_THAT(timeline.mistakes, IsEmpty());
  EXPECT_EQ(timeline.processes.size(), 2U);
  EXPECT_EQ(timeline.durations, (PathValues{{{"main", "A"}, 3}, {{"main", "B"}, 1}}));
}

// A trace without its reduced events, which have no place in time.
std::string WithoutNodes(const std::string& trace) {
  std::istringstream in(trace);
  std::string left;
  for (std::string line; std::getline(in, line);) {
    if (line.find("\tnode\t") == std::string::npos) left += line + "\n";
  }
  return left;
}

// If a gap follows a stretch off the processors, the tree adds that to the gap; the timeline shows
// both. Activations have the time of either.
bool IsActivation(const std::vector<std::string>& path) {
  return path.back() != "[dropped]" && path.back() != "[off]" && path[0] != "garbage collections";
}

// The tree's elapsed time of nodes that events entered, in nanoseconds.
PathValues Elapsed(const std::string& trace, int64_t unit_ns) {
  PathValues elapsed;
  for (const testing::TreeNodeRow& row : testing::TreeRows(trace, {"--merge=none"})) {
    const int64_t time = row.values.at("elapsed") * unit_ns;
    if (!row.is_thread && IsActivation(row.path) && time != 0) elapsed[row.path] += time;
  }
  return elapsed;
}

PathValues Shown(const Timeline& timeline) {
  PathValues shown = timeline.durations;
  std::erase_if(shown, [](const auto& it) { return it.second == 0 || !IsActivation(it.first); });
  return shown;
}

int64_t Weights(const Timeline& timeline) {
  int64_t sum = 0;
  for (const Timeline::Instant& it : timeline.instants) {
    if (it.category == "sample") sum += it.weight;
  }
  return sum;
}

TEST(PerfettoTest, RandomTracesNestAndHaveTheTimeOfTheTree) {
  int shown = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const std::string trace = WithoutNodes(testing::RandomTextTrace(seed));
    const RunResult result = RunPost({"--report=perfetto", "t"}, {{"t", trace}});
    if (result.exit_code == 2) continue;
    ++shown;
    const Timeline timeline = testing::ParseTimeline(result.out);
    ASSERT_THAT(timeline.mistakes, IsEmpty()) << trace;
    ASSERT_EQ(Shown(timeline), Elapsed(trace, 1000)) << trace;
    int64_t ticks = 0;
    for (const testing::TreeNodeRow& row : testing::TreeRows(trace)) {
      ticks += row.values.at("base_ticks");
    }
    ASSERT_EQ(Weights(timeline), ticks) << trace;
  }
  EXPECT_GT(shown, 150);
}

// The same log as a binary trace, with positions and dropped stretches.
TEST(PerfettoTest, RandomLogsHaveTheTimeOfTheTree) {
  int shown = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const testing::RandomLog log = testing::MakeRandomLog(seed);
    const std::string dump = RunPost({"dump", "t"}, {{"t", log.binary}}).out;
    const RunResult result = RunPost({"--report=perfetto", "t"}, {{"t", log.binary}});
    if (result.exit_code == 2) continue;  // only positions and gaps
    ++shown;
    const Timeline timeline = testing::ParseTimeline(result.out);
    ASSERT_THAT(timeline.mistakes, IsEmpty()) << dump;
    ASSERT_EQ(Shown(timeline), Elapsed(WithoutNodes(dump), 1)) << dump;
  }
  EXPECT_GT(shown, 150);
}

}  // namespace
}  // namespace jtrace
