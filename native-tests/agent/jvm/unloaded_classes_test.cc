#include "agent/jvm/unloaded_classes.h"

#include <vector>

#include "gtest/gtest.h"

namespace jtrace::jvm {
namespace {

class UnloadedClassesTest : public ::testing::Test {
 protected:
  void Unload(uint32_t from, uint32_t to) {
    for (uint32_t id = from; id < to; ++id) unloaded_.AddClass(id);
  }
  size_t SealAndCount() {
    forgotten_.clear();
    proto::Chunk chunk;
    unloaded_.AddChanges(0, chunk);
    size_t sum = 0;
    for (const UnloadedClasses::Batch& batch : forgotten_) sum += batch.size();
    return sum;
  }

  size_t known_ = 0;
  bool is_behind_ = false;
  std::vector<UnloadedClasses::Batch> forgotten_;
  UnloadedClasses unloaded_{[this](UnloadedClasses::Batch batch) {
                              forgotten_.push_back(std::move(batch));
                              return known_;
                            },
                            [this] { return is_behind_; }};
};

TEST_F(UnloadedClassesTest, BetweenRecordingsAFewAreForgottenToo) {
  Unload(1, 4);
  unloaded_.ForgetNow();
  EXPECT_TRUE(forgotten_.empty());
  unloaded_.ForgetNow();
  ASSERT_EQ(forgotten_.size(), 1u);
  EXPECT_EQ(forgotten_[0].size(), 3u);
  unloaded_.ForgetNow();
  EXPECT_EQ(forgotten_.size(), 1u);
}

TEST_F(UnloadedClassesTest, ForgetsAfterAWholeRound) {
  Unload(0, 600);
  unloaded_.AddLoader(7);
  EXPECT_EQ(SealAndCount(), 0u);
  Unload(1000, 1010);
  EXPECT_EQ(SealAndCount(), 601u);
  ASSERT_EQ(forgotten_.size(), 1u);
  EXPECT_TRUE(forgotten_[0].classes.contains(599));
  EXPECT_FALSE(forgotten_[0].classes.contains(1000));
  EXPECT_TRUE(forgotten_[0].loaders.contains(7));
  EXPECT_EQ(SealAndCount(), 0u);
}

TEST_F(UnloadedClassesTest, WaitsForEnoughOfThem) {
  known_ = 8 * 2000;
  Unload(0, 600);
  SealAndCount();
  EXPECT_EQ(SealAndCount(), 600u);  // how many classes are known is unknown so far
  Unload(1000, 1600);
  SealAndCount();
  EXPECT_EQ(SealAndCount(), 0u);
  Unload(2000, 3400);
  EXPECT_EQ(SealAndCount(), 0u);
  EXPECT_EQ(SealAndCount(), 2000u);
}

TEST_F(UnloadedClassesTest, KeepsThemWhileRecordsMayWait) {
  Unload(0, 600);
  SealAndCount();
  is_behind_ = true;
  EXPECT_EQ(SealAndCount(), 0u);
  is_behind_ = false;
  EXPECT_EQ(SealAndCount(), 600u);
}

}  // namespace
}  // namespace jtrace::jvm
