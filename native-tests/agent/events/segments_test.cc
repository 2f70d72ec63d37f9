#include "agent/events/segments.h"

#include <map>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/trace_format.h"

namespace jtrace::events {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

class SegmentsTest : public ::testing::Test {
 protected:
  SegmentsTest() { Begin(); }

  void Begin(const char* codes = "") {
    EventCodeSet set;
    ASSERT_TRUE(set.Apply(codes).ok());
    losses_.Clear();
    limits_.Reset();
    encoder_.BeginTrace(set);
    strings_.clear();
    segments_.IsRequested(set) ? segments_.Start(set) : segments_.Stop();
  }
  // As the writer does once a chunk.
  proto::Chunk Chunk() {
    proto::Chunk sealed;
    segments_.AddChanges(0, sealed);
    proto::Chunk chunk = encoder_.Take();
    uint32_t number = chunk.first_string();
    for (const std::string& text : chunk.string()) strings_[number++] = text;
    *chunk.mutable_segment_total() = sealed.segment_total();
    return chunk;
  }
  // "begin a", "end a", in the order of the records.
  std::vector<std::string> Records(const proto::Chunk& chunk) {
    std::vector<std::string> records;
    for (const proto::Event& it : chunk.event()) {
      if (it.major() != format::kSegment) continue;
      const bool is_end = it.minor() == (format::kSegmentPair | format::kEnd);
      EXPECT_TRUE(is_end || it.minor() == format::kSegmentPair) << it.minor();
      EXPECT_TRUE(is_end || it.value() == 0) << it.value();
      EXPECT_EQ(it.thread(), 7u);
      records.push_back(absl::StrCat(is_end ? "end " : "begin ", strings_[it.text()]));
    }
    return records;
  }
  // By name: segments without a record, ended and open.
  std::map<std::string, std::pair<uint64_t, uint64_t>> Totals(const proto::Chunk& chunk) {
    std::map<std::string, std::pair<uint64_t, uint64_t>> totals;
    for (const proto::SegmentTotal& it : chunk.segment_total()) {
      totals[strings_[it.name()]] = {it.count(), it.open()};
      EXPECT_LE(it.min_ns(), it.max_ns());
      EXPECT_LE(it.count() * it.min_ns(), it.total_ns());
      EXPECT_LE(it.total_ns(), it.count() * it.max_ns());
    }
    return totals;
  }
  // Uses up the records of this second and the next: the clock goes on.
  void Exhaust() {
    const uint32_t number = segments_.Number("exhaust");
    for (uint64_t i = 0; i < 2 * trace::EventRateLimiter::kRecordsASecond; ++i) {
      segments_.End(number, segments_.Begin(number), true);
    }
  }

  RecordingClock clock_;
  Losses losses_;
  trace::RecordEncoder encoder_{{}};
  trace::EventRateLimiter limits_{losses_};
  std::map<uint32_t, std::string> strings_;
  Segments segments_{clock_, encoder_, limits_, losses_, [] { return 7u; }};
};

TEST_F(SegmentsTest, APairOfRecordsHasTheTimeInBetween) {
  const uint32_t outer = segments_.Number("outer");
  const uint32_t inner = segments_.Number("inner");
  EXPECT_NE(outer, inner);
  EXPECT_EQ(segments_.Number("outer"), outer);
  const uint64_t began = segments_.Begin(outer);
  segments_.End(inner, segments_.Begin(inner), true);
  segments_.End(outer, began, true);
  const proto::Chunk chunk = Chunk();
  EXPECT_THAT(Records(chunk), ElementsAre("begin outer", "begin inner", "end inner", "end outer"));
  for (int end : {2, 3}) {
    const proto::Event& begin = chunk.event(3 - end);
    EXPECT_EQ(static_cast<uint64_t>(chunk.event(end).value()),
              chunk.event(end).time_ns() - begin.time_ns());
  }
  EXPECT_THAT(Totals(chunk), IsEmpty());
  EXPECT_EQ(losses_.Count("segments.out_of_turn"), 0u);
}

TEST_F(SegmentsTest, ThoseWithoutARecordAreCounted) {
  Exhaust();
  const uint32_t number = segments_.Number("a");
  const uint64_t open = segments_.Begin(number);
  for (int i = 0; i < 3; ++i) segments_.End(number, segments_.Begin(number), true);
  const auto totals = Totals(Chunk());
  const uint64_t recorded = trace::EventRateLimiter::kRecordsASecond;
  // The second may have ended meanwhile: then some of them have records.
  if (totals.contains("a") && totals.at("a").second == 1) {
    EXPECT_EQ(totals.at("a").first, 3u);
    EXPECT_EQ(totals.at("exhaust").first, recorded);
    segments_.BeginFile();
    EXPECT_THAT(Totals(Chunk()), ElementsAre(Pair("a", Pair(0u, 1u))));
    segments_.End(number, open, true);
    EXPECT_THAT(Totals(Chunk()), ElementsAre(Pair("a", Pair(1u, 0u))));
    EXPECT_THAT(Totals(Chunk()), IsEmpty());
  }
}

TEST_F(SegmentsTest, ManyThreadsLoseNone) {
  constexpr int kThreads = 4;
  constexpr uint64_t kSegments = 20'000;
  const uint32_t number = segments_.Number("shared");
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (uint64_t j = 0; j < kSegments; ++j) {
        segments_.End(number, segments_.Begin(number), true);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const proto::Chunk chunk = Chunk();
  const uint64_t records = Records(chunk).size();
  EXPECT_EQ(records % 2, 0u);
  EXPECT_THAT(Totals(chunk),
              ElementsAre(Pair("shared", Pair(kThreads * kSegments - records / 2, 0u))));
}

TEST_F(SegmentsTest, ARecordingHasOnlyWhatBeganInIt) {
  const uint32_t number = segments_.Number("a");
  const uint64_t before = segments_.Begin(number);
  segments_.Stop();
  const uint64_t between = segments_.Begin(number);
  segments_.End(number, segments_.Begin(number), true);
  Chunk();
  Begin();
  segments_.End(number, before, true);
  segments_.End(number, between, true);
  const proto::Chunk chunk = Chunk();
  EXPECT_THAT(Records(chunk), IsEmpty());
  EXPECT_THAT(Totals(chunk), IsEmpty());
  EXPECT_EQ(losses_.Count("segments.begun_before"), 2u);
}

TEST_F(SegmentsTest, CodesSwitchThemOff) {
  Begin("-segment");
  const uint32_t number = segments_.Number("a");
  segments_.End(number, segments_.Begin(number), true);
  segments_.End(number, 0, false);
  const proto::Chunk chunk = Chunk();
  EXPECT_THAT(Records(chunk), IsEmpty());
  EXPECT_THAT(Totals(chunk), IsEmpty());
  EXPECT_EQ(losses_.Count("segments.out_of_turn"), 0u);
}

TEST_F(SegmentsTest, NamesAreBounded) {
  const std::string longest(Segments::kMaxNameBytes, 'x');
  EXPECT_EQ(segments_.Number(longest + "y"), segments_.Number(longest));
  for (uint32_t i = 1; i < Segments::kMaxNames; ++i) segments_.Number(absl::StrCat(i));
  const uint32_t other = segments_.Number("one too many");
  EXPECT_EQ(segments_.Number("another"), other);
  EXPECT_NE(segments_.Number(longest), other);
  EXPECT_FALSE(segments_.Has(Segments::kMaxNames + 1));
  segments_.End(other, segments_.Begin(other), true);
  EXPECT_THAT(Records(Chunk()), ElementsAre("begin [other]", "end [other]"));
  EXPECT_EQ(losses_.Count("segments.too_many_names"), 1u);
}

// Of native threads: they hold what is open themselves.
TEST_F(SegmentsTest, OutOfTurnEndsAreCounted) {
  const uint32_t a = segments_.Number("a");
  const uint32_t b = segments_.Number("b");
  EXPECT_FALSE(ThreadSegments::End(segments_, a));
  EXPECT_EQ(losses_.Count("segments.out_of_turn"), 1u);
  ThreadSegments::Begin(segments_, a);
  ThreadSegments::Begin(segments_, b);
  std::thread([&] { EXPECT_FALSE(ThreadSegments::End(segments_, a)); }).join();
  EXPECT_EQ(losses_.Count("segments.out_of_turn"), 2u);
  EXPECT_TRUE(ThreadSegments::End(segments_, a));  // and b with it
  EXPECT_EQ(losses_.Count("segments.out_of_turn"), 3u);
  EXPECT_FALSE(ThreadSegments::End(segments_, b));
  EXPECT_EQ(losses_.Count("segments.out_of_turn"), 4u);
  EXPECT_THAT(Records(Chunk()), ElementsAre("begin a", "begin b", "end b", "end a"));
}

TEST_F(SegmentsTest, AThreadThatEndsNoneKeepsAThousand) {
  const uint32_t a = segments_.Number("a");
  std::thread([&] {
    for (size_t i = 0; i < ThreadSegments::kMaxOpen; ++i) {
      EXPECT_EQ(ThreadSegments::Begin(segments_, a), ThreadSegments::Begun::kYes);
    }
    EXPECT_EQ(ThreadSegments::Begin(segments_, a), ThreadSegments::Begun::kTooMany);
  }).join();
  EXPECT_EQ(losses_.Count("segments.out_of_turn"), 1u);
}

}  // namespace
}  // namespace jtrace::events
