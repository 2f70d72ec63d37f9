// When a target that failed is tried again.
#include "postproc/ship/backoff.h"

#include <gtest/gtest.h>

#include <set>

namespace jtrace::ship {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(1'800'000'000);

TEST(BackoffTest, TwiceAsLongUpToAMinuteLessARandomHalf) {
  Backoff backoff(1);
  EXPECT_TRUE(backoff.IsReady(kNow));
  absl::Duration longest = absl::Seconds(1);
  for (int i = 0; i < 40; ++i) {
    backoff.Failed(kNow, absl::ZeroDuration());
    const absl::Duration wait = backoff.next() - kNow;
    EXPECT_GE(wait, longest / 2) << i;
    EXPECT_LE(wait, longest) << i;
    EXPECT_FALSE(backoff.IsReady(kNow));
    EXPECT_TRUE(backoff.IsReady(kNow + longest));
    longest = std::min(longest * 2, absl::Minutes(1));
  }
  backoff.Succeeded();
  EXPECT_TRUE(backoff.IsReady(kNow));
  backoff.Failed(kNow, absl::ZeroDuration());
  EXPECT_LE(backoff.next() - kNow, absl::Seconds(1));
}

TEST(BackoffTest, HostsComeBackAtDifferentTimes) {
  std::set<absl::Time> times;
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    Backoff backoff(seed * 7919);
    backoff.Failed(kNow, absl::ZeroDuration());
    times.insert(backoff.next());
  }
  EXPECT_GT(times.size(), 15U);
}

TEST(BackoffTest, AServerMayAskForMoreButNotForEver) {
  Backoff backoff(1);
  backoff.Failed(kNow, absl::Seconds(120));
  EXPECT_EQ(backoff.next(), kNow + absl::Seconds(120));
  backoff.Failed(kNow, absl::Hours(50));
  EXPECT_EQ(backoff.next(), kNow + absl::Minutes(10));
}

}  // namespace
}  // namespace jtrace::ship
