#include "agent/trace/chunk_split.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "native-tests/agent/trace/random_chunk.h"
#include "native-tests/support/run_post.h"
#include "native-tests/support/trace_builder.h"

namespace jtrace::trace {
namespace {

using testing::FileHeader;
using testing::MakeFrame;
using testing::RandomChunk;
using testing::RunPost;

constexpr size_t kAnySize = 1 << 30;

std::vector<proto::Chunk> Split(proto::Chunk whole, size_t limit, size_t most = kAnySize) {
  std::vector<proto::Chunk> parts;
  ChunkSplitter(limit, most).Split(std::move(whole), [&](proto::Chunk part) {
    parts.push_back(std::move(part));
  });
  return parts;
}

proto::Chunk ChunkWithEvents(int count) {
  proto::Chunk chunk;
  chunk.set_first_string(1);
  chunk.add_string("a name");
  for (int i = 0; i < count; ++i) {
    proto::Event* event = chunk.add_event();
    event->set_value(i);
    for (int pc = 0; pc < 100; ++pc) event->mutable_code_event()->add_pc(1000);
  }
  chunk.mutable_session_end()->set_calls(7);
  return chunk;
}

TEST(ChunkSplitTest, ASmallChunkStaysWhole) {
  const proto::Chunk whole = ChunkWithEvents(3);
  const auto parts = Split(whole, 1 << 20);
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_EQ(parts[0].SerializeAsString(), whole.SerializeAsString());
}

TEST(ChunkSplitTest, EventsFollowTheirDefinitionsInOrder) {
  constexpr size_t kLimit = 2000;
  const auto parts = Split(ChunkWithEvents(50), kLimit);
  ASSERT_GT(parts.size(), 3u);
  EXPECT_EQ(parts[0].string_size(), 1);
  int next = 0;
  for (const proto::Chunk& part : parts) {
    EXPECT_LE(part.ByteSizeLong(), kLimit);
    for (const proto::Event& event : part.event()) EXPECT_EQ(event.value(), next++);
  }
  EXPECT_EQ(next, 50);
}

TEST(ChunkSplitTest, TheSessionsEndIsInTheLastPart) {
  for (const int events : {0, 50}) {
    const auto parts = Split(ChunkWithEvents(events), 10);
    for (size_t i = 0; i < parts.size(); ++i) {
      EXPECT_EQ(parts[i].has_session_end(), i + 1 == parts.size());
    }
    EXPECT_EQ(parts.back().session_end().calls(), 7u);
  }
}

TEST(ChunkSplitTest, ARecordAboveTheLimitIsAloneInItsPart) {
  const auto parts = Split(ChunkWithEvents(3), 10);
  ASSERT_EQ(parts.size(), 5u);
  for (size_t i = 1; i < 4; ++i) EXPECT_EQ(parts[i].event_size(), 1);
}

// Otherwise it would end the recording: no frame can hold it.
TEST(ChunkSplitTest, ARecordThatNoFrameCanHoldIsLeftOutAndCounted) {
  proto::Chunk whole = ChunkWithEvents(3);
  whole.mutable_event(1)->mutable_code_event()->mutable_pc()->Resize(5000, 1000);
  const auto parts = Split(whole, 1000, 9000);
  std::vector<int64_t> values;
  for (const proto::Chunk& part : parts) {
    EXPECT_LE(part.ByteSizeLong(), 9000u);
    for (const proto::Event& event : part.event()) values.push_back(event.value());
  }
  EXPECT_THAT(values, ::testing::ElementsAre(0, 2));
  ASSERT_EQ(parts.back().loss_size(), 1);
  EXPECT_EQ(parts.back().loss(0).name(), "trace.too_large");
  EXPECT_EQ(parts.back().loss(0).count(), 1u);
}

// ---- Any chunk ----------------------------------------------------------------------------------

std::string Trace(std::vector<proto::Chunk> chunks) {
  std::string trace = FileHeader();
  uint64_t sequence = 0;
  for (proto::Chunk& chunk : chunks) {
    chunk.set_sequence(++sequence);
    trace += MakeFrame(chunk.SerializeAsString());
  }
  return trace;
}

using Lines = std::map<std::string, std::vector<std::string>>;  // by thread

// The lines of each thread in a reader's dump, in order. Lines of different threads have no order.
Lines LinesByThread(const std::string& trace) {
  const auto dump = RunPost({"--report=dump", "trace"}, {{"trace", trace}});
  EXPECT_EQ(dump.exit_code, 0) << dump.err;
  EXPECT_EQ(dump.err, "");
  Lines lines;
  for (const absl::string_view line : absl::StrSplit(dump.out, '\n')) {
    // Sizes in the file.
    if (absl::StrContains(line, "\tsample_bytes\t")) continue;
    if (absl::StrContains(line, "\tfile_bytes\t")) continue;
    const std::vector<absl::string_view> columns = absl::StrSplit(line, '\t');
    lines[columns.size() < 2 ? "" : std::string(columns[1])].emplace_back(line);
  }
  return lines;
}

// The first difference between the two; empty: none.
std::string Difference(const Lines& expected, const Lines& actual) {
  for (const auto& [thread, lines] : expected) {
    const auto found = actual.find(thread);
    if (found == actual.end()) return absl::StrCat("no lines of ", thread);
    const size_t both = std::min(lines.size(), found->second.size());
    for (size_t i = 0; i < both; ++i) {
      if (lines[i] != found->second[i]) return absl::StrCat(lines[i], "\n", found->second[i]);
    }
    if (lines.size() != found->second.size()) return absl::StrCat("lines of ", thread);
  }
  return expected.size() == actual.size() ? "" : "more threads";
}

TEST(ChunkSplitTest, PartsSayTogetherWhatTheWholeSays) {
  for (uint32_t seed = 1; seed <= 30; ++seed) {
    const proto::Chunk whole = RandomChunk(seed);
    const auto lines = LinesByThread(Trace({whole}));
    ASSERT_GT(lines.size(), 4u);
    for (const size_t limit : {60u, 1000u, 5000u}) {
      EXPECT_EQ(Difference(lines, LinesByThread(Trace(Split(whole, limit)))), "")
          << "seed " << seed << ", limit " << limit;
    }
  }
}

TEST(ChunkSplitTest, PartsKeepToTheLimit) {
  for (uint32_t seed = 1; seed <= 30; ++seed) {
    // A sample with its frames is the largest record that cannot be split.
    for (const size_t limit : {600u, 2000u}) {
      const auto parts = Split(RandomChunk(seed), limit);
      for (const proto::Chunk& part : parts) EXPECT_LE(part.ByteSizeLong(), limit);
    }
  }
}

// A trace that is cut off between the parts names nothing undefined.
TEST(ChunkSplitTest, APartNamesOnlyWhatItOrAnEarlierOneDefines) {
  for (uint32_t seed = 1; seed <= 10; ++seed) {
    const auto parts = Split(RandomChunk(seed), 1000);
    for (size_t count = 1; count < parts.size(); ++count) {
      LinesByThread(Trace({parts.begin(), parts.begin() + static_cast<ptrdiff_t>(count)}));
    }
  }
}

}  // namespace
}  // namespace jtrace::trace
