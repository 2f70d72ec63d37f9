#include "agent/writer/chunk_split.h"

#include "gtest/gtest.h"

namespace jtrace::writer {
namespace {

proto::Chunk ChunkWithEvents(int count) {
  proto::Chunk chunk;
  chunk.add_string("a name");
  chunk.add_sample()->set_thread(1);
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
  const auto parts = SplitChunk(whole, 1 << 20);
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_EQ(parts[0].SerializeAsString(), whole.SerializeAsString());
}

TEST(ChunkSplitTest, EventsKeepTheirOrderBehindWhatTheyReferTo) {
  constexpr size_t kLimit = 2000;
  const auto parts = SplitChunk(ChunkWithEvents(50), kLimit);
  ASSERT_GT(parts.size(), 3u);
  EXPECT_EQ(parts[0].string_size(), 1);
  EXPECT_EQ(parts[0].sample_size(), 1);
  EXPECT_EQ(parts[0].event_size(), 0);
  int next = 0;
  for (size_t i = 1; i < parts.size(); ++i) {
    EXPECT_LE(parts[i].ByteSizeLong(), kLimit);
    EXPECT_EQ(parts[i].string_size(), 0);
    for (const proto::Event& event : parts[i].event()) EXPECT_EQ(event.value(), next++);
  }
  EXPECT_EQ(next, 50);
}

TEST(ChunkSplitTest, TheSessionsEndIsInTheLastPart) {
  for (const int events : {0, 50}) {
    const auto parts = SplitChunk(ChunkWithEvents(events), 10);
    for (size_t i = 0; i < parts.size(); ++i) {
      EXPECT_EQ(parts[i].has_session_end(), i + 1 == parts.size());
    }
    EXPECT_EQ(parts.back().session_end().calls(), 7u);
  }
}

TEST(ChunkSplitTest, AnEventAboveTheLimitIsAloneInItsPart) {
  const auto parts = SplitChunk(ChunkWithEvents(3), 10);
  ASSERT_EQ(parts.size(), 4u);
  for (size_t i = 1; i < parts.size(); ++i) EXPECT_EQ(parts[i].event_size(), 1);
}

}  // namespace
}  // namespace jtrace::writer
