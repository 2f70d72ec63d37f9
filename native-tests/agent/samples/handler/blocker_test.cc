// FindBlocker on made-up objects, laid out as HotSpot's are.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>
#include <tuple>

#include "agent/samples/handler/thread_activity.h"
#include "agent/samples/signals.h"

namespace jtrace::samples {
namespace {

using KlassWord = signal_safe::HeapLayout::KlassWord;

// One piece of memory, addressed by offsets; narrow references are offsets in words.
class FakeJvm {
 public:
  static constexpr uint32_t kThread = 0;     // JavaThread
  static constexpr uint32_t kMonitor = 128;  // ObjectMonitor
  static constexpr uint32_t kMonitorHandle = 160;
  static constexpr uint32_t kThreadHandle = 168;
  static constexpr uint32_t kLock = 192;          // an object
  static constexpr uint32_t kThreadObject = 256;  // a java.lang.Thread
  static constexpr uint32_t kCollecting = 320;
  static constexpr uint32_t kCollections = 328;
  static constexpr uint32_t kLockKlass = 384;
  static constexpr uint32_t kThreadKlass = 448;
  static constexpr uint32_t kObjectKlass = 512;
  static constexpr uint32_t kNoKlass = 576;

  FakeJvm(bool narrow, KlassWord word) {
    heap_.readable = true;
    heap_.pending_monitor = 16;
    heap_.waiting_monitor = 24;
    heap_.thread_object = 32;
    heap_.monitor_object = 8;
    heap_.park_blocker = 20;
    if (!narrow) heap_.park_blocker = 24;
    heap_.narrow_references = narrow;
    heap_.reference_base = Address(0);
    heap_.reference_shift = 3;
    heap_.klass_word = word;
    heap_.klass = 8;
    heap_.mark_klass_shift = 42;
    heap_.klass_base = Address(0);
    heap_.klass_shift = 4;
    heap_.first_super = 8;
    heap_.object_klass = Address(kObjectKlass);
    heap_.collecting = Address(kCollecting);
    heap_.collections = Address(kCollections);
    for (const uint32_t klass : {kLockKlass, kThreadKlass, kObjectKlass}) {
      Put(klass + 8, Address(kObjectKlass));
    }
    PutObject(kLock, kLockKlass);
    PutObject(kThreadObject, kThreadKlass);
    Put(kMonitor + 8, Address(kMonitorHandle));
    Put(kMonitorHandle, Address(kLock));
    Put(kThread + 32, Address(kThreadHandle));
    Put(kThreadHandle, Address(kThreadObject));
  }

  uintptr_t Address(uint32_t offset) const {
    return reinterpret_cast<uintptr_t>(memory_.data()) + offset;
  }
  void Put(uint32_t offset, uint64_t word) { std::memcpy(&memory_[offset], &word, sizeof word); }
  void PutObject(uint32_t at, uint32_t klass) {
    constexpr uint64_t kUnlocked = 1;
    const uint64_t narrow = klass / 16;
    const bool in_mark = heap_.klass_word == KlassWord::kInMark;
    Put(at, in_mark ? narrow << 42 | kUnlocked : kUnlocked);
    if (in_mark) return;
    Put(at + 8, heap_.klass_word == KlassWord::kNarrow ? narrow : Address(klass));
  }
  void PutParkBlocker(uint32_t object) {
    const uint32_t at = kThreadObject + static_cast<uint32_t>(heap_.park_blocker);
    const uint32_t narrow = object / 8;
    if (heap_.narrow_references) {
      std::memcpy(&memory_[at], &narrow, sizeof narrow);
    } else {
      Put(at, object != 0 ? Address(object) : 0);
    }
  }
  // The class, as an offset; 0: none; -1: not read.
  int64_t Blocker(Activity activity) const {
    uintptr_t klass = 1;
    const bool known = FindBlocker(heap_, Address(kThread), activity, &klass);
    if (klass == 0) return known ? 0 : -1;
    EXPECT_TRUE(known);
    return static_cast<int64_t>(klass - Address(0));
  }

  signal_safe::HeapLayout heap_;

 private:
  alignas(64) std::array<std::byte, 640> memory_ = {};
};

class BlockerTest : public testing::TestWithParam<std::tuple<bool, KlassWord>> {
 protected:
  void SetUp() override { ASSERT_TRUE(InstallFaultHandler().ok()); }
  FakeJvm jvm_{std::get<0>(GetParam()), std::get<1>(GetParam())};
};

TEST_P(BlockerTest, FindsMonitors) {
  jvm_.Put(FakeJvm::kThread + 16, jvm_.Address(FakeJvm::kMonitor));
  EXPECT_EQ(jvm_.Blocker(Activity::kMonitor), FakeJvm::kLockKlass);
  EXPECT_EQ(jvm_.Blocker(Activity::kObjectWait), -1);
  jvm_.Put(FakeJvm::kThread + 16, 0);
  jvm_.Put(FakeJvm::kThread + 24, jvm_.Address(FakeJvm::kMonitor));
  EXPECT_EQ(jvm_.Blocker(Activity::kObjectWait), FakeJvm::kLockKlass);
  // Entering again after Object.wait.
  EXPECT_EQ(jvm_.Blocker(Activity::kMonitor), FakeJvm::kLockKlass);
}

TEST_P(BlockerTest, FindsThreadIds) {
  uint64_t id = 0;
  EXPECT_FALSE(FindThreadId(jvm_.heap_, jvm_.Address(FakeJvm::kThread), &id));
  jvm_.heap_.thread_id = 32;
  EXPECT_FALSE(FindThreadId(jvm_.heap_, jvm_.Address(FakeJvm::kThread), &id));  // none has 0
  jvm_.Put(FakeJvm::kThreadObject + 32, 4711);
  EXPECT_TRUE(FindThreadId(jvm_.heap_, jvm_.Address(FakeJvm::kThread), &id));
  EXPECT_EQ(id, 4711u);
  jvm_.Put(FakeJvm::kCollecting, 1);
  EXPECT_FALSE(FindThreadId(jvm_.heap_, jvm_.Address(FakeJvm::kThread), &id));
  jvm_.Put(FakeJvm::kCollecting, 0);
  jvm_.Put(FakeJvm::kThreadHandle, jvm_.Address(FakeJvm::kNoKlass));  // not an object any more
  EXPECT_FALSE(FindThreadId(jvm_.heap_, jvm_.Address(FakeJvm::kThread), &id));
}

TEST_P(BlockerTest, FindsParkBlockers) {
  EXPECT_EQ(jvm_.Blocker(Activity::kWaiting), 0);
  jvm_.PutParkBlocker(FakeJvm::kLock);
  EXPECT_EQ(jvm_.Blocker(Activity::kWaiting), FakeJvm::kLockKlass);
  for (const Activity other : {Activity::kRunning, Activity::kBlocked, Activity::kUnknown}) {
    EXPECT_EQ(jvm_.Blocker(other), 0);
  }
}

TEST_P(BlockerTest, ReadsNothingDuringACollection) {
  jvm_.Put(FakeJvm::kThread + 16, jvm_.Address(FakeJvm::kMonitor));
  jvm_.PutParkBlocker(FakeJvm::kLock);
  jvm_.Put(FakeJvm::kCollecting, 1);
  EXPECT_EQ(jvm_.Blocker(Activity::kMonitor), -1);
  EXPECT_EQ(jvm_.Blocker(Activity::kWaiting), -1);
  EXPECT_EQ(jvm_.Blocker(Activity::kRunning), 0);
  jvm_.Put(FakeJvm::kCollecting, 0);
  EXPECT_EQ(jvm_.Blocker(Activity::kMonitor), FakeJvm::kLockKlass);
}

TEST_P(BlockerTest, RejectsMemoryThatIsNotAnObject) {
  jvm_.Put(FakeJvm::kThread + 16, jvm_.Address(FakeJvm::kMonitor));
  jvm_.PutObject(FakeJvm::kLock, FakeJvm::kNoKlass);
  EXPECT_EQ(jvm_.Blocker(Activity::kMonitor), -1);
  jvm_.PutObject(FakeJvm::kLock, FakeJvm::kLockKlass);
  EXPECT_EQ(jvm_.Blocker(Activity::kMonitor), FakeJvm::kLockKlass);
  // Moved: its header holds the address of the copy.
  jvm_.Put(FakeJvm::kLock, jvm_.Address(FakeJvm::kThreadObject) | 3);
  EXPECT_EQ(jvm_.Blocker(Activity::kMonitor), -1);
  for (const uint64_t word : {uint64_t{0}, uint64_t{8}, uint64_t{0x7fff'ffff'fff8}, ~uint64_t{0}}) {
    jvm_.Put(FakeJvm::kMonitorHandle, word);
    EXPECT_EQ(jvm_.Blocker(Activity::kMonitor), -1);
    jvm_.Put(FakeJvm::kThreadHandle, word);
    EXPECT_EQ(jvm_.Blocker(Activity::kWaiting), -1);
  }
}

TEST_P(BlockerTest, ReadsNothingWhereReferencesCannotBeFollowed) {
  jvm_.heap_.readable = false;
  EXPECT_EQ(jvm_.Blocker(Activity::kMonitor), -1);
  EXPECT_EQ(jvm_.Blocker(Activity::kWaiting), -1);
  EXPECT_EQ(jvm_.Blocker(Activity::kRunning), 0);
}

std::string LayoutName(const testing::TestParamInfo<BlockerTest::ParamType>& info) {
  const auto [narrow, word] = info.param;
  constexpr const char* kWords[] = {"Pointers", "NarrowPointers", "Marks"};
  return std::string(narrow ? "NarrowReferencesKlass" : "WideReferencesKlass") +
         kWords[static_cast<int>(word)];
}

INSTANTIATE_TEST_SUITE_P(Layouts, BlockerTest,
                         testing::Combine(testing::Bool(),
                                          testing::Values(KlassWord::kPointer, KlassWord::kNarrow,
                                                          KlassWord::kInMark)),
                         LayoutName);

}  // namespace
}  // namespace jtrace::samples
