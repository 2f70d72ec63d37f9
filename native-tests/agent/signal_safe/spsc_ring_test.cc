#include "agent/signal_safe/spsc_ring.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

namespace jtrace::signal_safe {
namespace {

class SpscRingTest : public testing::Test {
 protected:
  void Init(uint32_t capacity) {
    storage_.resize(capacity / 8);
    ring_.Init(reinterpret_cast<std::byte*>(storage_.data()), capacity);
  }
  bool Push(const std::vector<uint8_t>& record) {
    std::byte* const room = ring_.Reserve(static_cast<uint32_t>(record.size()));
    if (room == nullptr) return false;
    std::copy(record.begin(), record.end(), reinterpret_cast<uint8_t*>(room));
    ring_.Commit();
    return true;
  }
  bool Pop(std::vector<uint8_t>* record) {
    uint32_t bytes;
    const std::byte* const front = ring_.Front(&bytes);
    if (front == nullptr) return false;
    const auto* begin = reinterpret_cast<const uint8_t*>(front);
    record->assign(begin, begin + bytes);
    ring_.Pop();
    return true;
  }

  std::vector<uint64_t> storage_;
  SpscRing ring_;
};

TEST_F(SpscRingTest, ShrinksTheReservedRecord) {
  Init(256);
  for (uint32_t round = 0; round < 100; ++round) {
    std::byte* const record = ring_.Reserve(80);
    ASSERT_NE(record, nullptr);
    const std::vector<uint8_t> content(round % 80, static_cast<uint8_t>(round));
    if (!content.empty()) std::memcpy(record, content.data(), content.size());
    ring_.Shrink(static_cast<uint32_t>(content.size()));
    ring_.Commit();
    ASSERT_TRUE(Push({0xaa}));
    std::vector<uint8_t> read;
    ASSERT_TRUE(Pop(&read));
    ASSERT_EQ(read, content);
    ASSERT_TRUE(Pop(&read));
    ASSERT_EQ(read, std::vector<uint8_t>{0xaa});
  }
}

TEST_F(SpscRingTest, IsEmptyAtFirst) {
  Init(64);
  uint32_t bytes;
  EXPECT_EQ(ring_.Front(&bytes), nullptr);
}

TEST_F(SpscRingTest, ReservedRecordIsInvisibleUntilCommit) {
  Init(64);
  ASSERT_NE(ring_.Reserve(8), nullptr);
  uint32_t bytes;
  EXPECT_EQ(ring_.Front(&bytes), nullptr);
  ring_.Commit();
  EXPECT_NE(ring_.Front(&bytes), nullptr);
  EXPECT_EQ(bytes, 8u);
}

TEST_F(SpscRingTest, FullRingRejectsRecordsAndKeepsItsOwn) {
  Init(64);
  // A record takes its size, padded to 8, and a header of 8.
  EXPECT_TRUE(Push(std::vector<uint8_t>(24, 1)));
  EXPECT_TRUE(Push(std::vector<uint8_t>(24, 2)));
  EXPECT_FALSE(Push({}));
  std::vector<uint8_t> record;
  ASSERT_TRUE(Pop(&record));
  EXPECT_EQ(record, std::vector<uint8_t>(24, 1));
  EXPECT_TRUE(Push(std::vector<uint8_t>(24, 3)));
  ASSERT_TRUE(Pop(&record));
  EXPECT_EQ(record, std::vector<uint8_t>(24, 2));
  ASSERT_TRUE(Pop(&record));
  EXPECT_EQ(record, std::vector<uint8_t>(24, 3));
}

TEST_F(SpscRingTest, RejectsRecordsThatNeverFit) {
  Init(64);
  EXPECT_EQ(ring_.Reserve(57), nullptr);
  EXPECT_NE(ring_.Reserve(56), nullptr);
}

// However many records pass, only those in use at once take memory.
TEST_F(SpscRingTest, StartsFromTheBeginWhenEmpty) {
  Init(1024);
  for (int i = 0; i < 1000; ++i) {
    std::vector<uint8_t> record;
    ASSERT_TRUE(Push(std::vector<uint8_t>(40, 1)));
    ASSERT_TRUE(Push(std::vector<uint8_t>(24, 2)));
    EXPECT_EQ(ring_.used(), 80u);
    ASSERT_TRUE(Pop(&record));
    ASSERT_EQ(record, std::vector<uint8_t>(40, 1));
    ASSERT_TRUE(Pop(&record));
    ASSERT_EQ(record, std::vector<uint8_t>(24, 2));
  }
  EXPECT_TRUE(std::all_of(storage_.begin() + 80 / 8, storage_.end(),
                          [](uint64_t word) { return word == 0; }));
  // All of it can be used, wherever the last record ended.
  EXPECT_TRUE(Push(std::vector<uint8_t>(1024 - 8, 3)));
}

// Against a plain queue, over all sizes and wrap positions.
TEST_F(SpscRingTest, BehavesLikeAQueue) {
  Init(512);
  std::mt19937 random(1);
  std::vector<std::vector<uint8_t>> model;
  size_t front = 0;
  uint8_t next = 0;
  for (int i = 0; i < 100'000; ++i) {
    if (random() % 2 == 0) {
      const std::vector<uint8_t> record(random() % 90, next++);
      if (Push(record)) model.push_back(record);
    } else {
      std::vector<uint8_t> record;
      const bool popped = Pop(&record);
      ASSERT_EQ(popped, front < model.size());
      if (popped) {
        ASSERT_EQ(record, model[front++]);
      }
    }
  }
  EXPECT_GT(front, 10'000u);
}

// Under ThreadSanitizer this also shows that the memory orders suffice.
TEST_F(SpscRingTest, PassesEverythingFromOneThreadToAnother) {
  Init(1024);
  constexpr uint32_t kRecords = 50'000;
  std::thread producer([this] {
    for (uint32_t i = 0; i < kRecords;) {
      std::byte* const room = ring_.Reserve(4 + i % 60);
      if (room == nullptr) continue;
      std::memset(room, static_cast<int>(i), 4 + i % 60);
      std::memcpy(room, &i, sizeof i);
      ring_.Commit();
      ++i;
    }
  });
  bool same = true;
  for (uint32_t expected = 0; expected < kRecords;) {
    uint32_t bytes;
    const std::byte* const front = ring_.Front(&bytes);
    if (front == nullptr) continue;
    uint32_t number;
    std::memcpy(&number, front, sizeof number);
    same &= number == expected && bytes == 4 + expected % 60;
    for (uint32_t b = 4; b < bytes; ++b) same &= front[b] == static_cast<std::byte>(expected);
    ring_.Pop();
    ++expected;
  }
  producer.join();
  EXPECT_TRUE(same);
}

}  // namespace
}  // namespace jtrace::signal_safe
