#include "agent/samples/walk/chain.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace jtrace::samples {
namespace {

constexpr uint64_t kHole = ~0ull;

void PushNumbers(Chain& chain, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) chain.Push(FrameKind::kNative, i, -1);
}

// The values, kHole for the marker of missing frames.
std::vector<uint64_t> Values(const Chain& chain, uint32_t limit) {
  std::vector<Frame> frames(chain.SizeWithin(limit));
  chain.CopyTo(frames.data(), limit);
  std::vector<uint64_t> values;
  for (const Frame& frame : frames) {
    values.push_back(frame.kind == FrameKind::kMarker ? kHole : frame.value);
  }
  return values;
}

TEST(ChainTest, KeepsShortChainsWhole) {
  Frame storage[8];
  Chain chain(storage, 8);
  PushNumbers(chain, 8);
  EXPECT_EQ(Values(chain, 8), (std::vector<uint64_t>{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(chain.end(), ChainEnd::kRoot);
}

TEST(ChainTest, LimitKeepsBothEnds) {
  Frame storage[8];
  Chain chain(storage, 8);
  PushNumbers(chain, 8);
  EXPECT_EQ(Values(chain, 4), (std::vector<uint64_t>{0, 1, kHole, 6, 7}));
  std::vector<Frame> frames(chain.SizeWithin(4));
  chain.CopyTo(frames.data(), 4);
  EXPECT_EQ(frames[2].value, static_cast<uint64_t>(MissingReason::kTruncated));
  EXPECT_EQ(frames[2].bci, 4);  // missing frames
}

TEST(ChainTest, OverflowKeepsTheNewestAsRootSide) {
  for (uint32_t pushed = 9; pushed < 40; ++pushed) {
    Frame storage[8];
    Chain chain(storage, 8);
    PushNumbers(chain, pushed);
    EXPECT_EQ(Values(chain, 8), (std::vector<uint64_t>{0, 1, 2, 3, kHole, pushed - 4, pushed - 3,
                                                       pushed - 2, pushed - 1}));
    EXPECT_EQ(Values(chain, 4), (std::vector<uint64_t>{0, 1, kHole, pushed - 2, pushed - 1}));
    EXPECT_EQ(chain.end(), ChainEnd::kRootWithHole);
  }
}

TEST(ChainTest, BaseFollowsRootLast) {
  Frame storage[8];
  Chain chain(storage, 8);
  PushNumbers(chain, 2);
  std::vector<Frame> base;  // root first
  for (uint64_t value : {30, 20, 10}) base.push_back({value, -1, FrameKind::kNative, 0, 0});
  chain.SetBase(base.data(), 3);
  EXPECT_EQ(Values(chain, 8), (std::vector<uint64_t>{0, 1, 10, 20, 30}));
  EXPECT_EQ(Values(chain, 4), (std::vector<uint64_t>{0, 1, kHole, 20, 30}));
  EXPECT_EQ(Values(chain, 2), (std::vector<uint64_t>{0, kHole, 30}));
}

TEST(ChainTest, RecordsHowItEnded) {
  Frame storage[8];
  Chain guessed(storage, 8);
  guessed.SetGuessed();
  EXPECT_EQ(guessed.end(), ChainEnd::kRootGuessed);
  guessed.AddHole(MissingReason::kFrozenFrames);
  EXPECT_EQ(guessed.end(), ChainEnd::kRootWithHole);
  guessed.Fail(MissingReason::kBadCfa);
  EXPECT_EQ(guessed.end(), ChainEnd::kFailed);
  EXPECT_EQ(guessed.failure(), MissingReason::kBadCfa);
  EXPECT_EQ(guessed.pushed(), 2u);  // both left their marker
}

TEST(ChainTest, FingerprintDoesNotDependOnTheBasesSize) {
  Frame storage[8], other_storage[8];
  Chain whole(storage, 8), split(other_storage, 8);
  PushNumbers(whole, 3);
  PushNumbers(split, 1);
  Frame base[] = {{2, -1, FrameKind::kNative, 0, 0}, {1, -1, FrameKind::kNative, 0, 0}};
  split.SetBase(base, 2);
  EXPECT_NE(whole.Fingerprint(), 0u);
  EXPECT_EQ(whole.Fingerprint(), split.Fingerprint());
  base[0].bci = 5;
  EXPECT_NE(whole.Fingerprint(), split.Fingerprint());
}

}  // namespace
}  // namespace jtrace::samples
