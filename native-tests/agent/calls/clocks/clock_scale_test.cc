#include "agent/calls/clocks/clock_scale.h"

#include <gtest/gtest.h>

#include "agent/base/clock.h"

namespace jtrace::calls {
namespace {

TEST(TickScaleTest, NanosecondsStayUnchanged) {
  const ClockScale scale = ClockScale::Nanoseconds();
  EXPECT_EQ(scale.Nanos(12345), 12345u);
  EXPECT_EQ(scale.NanosUp(12345), 12345u);
  EXPECT_EQ(scale.Monotonic(99), 99u);
  const uint64_t before = MonotonicNanos();
  EXPECT_GE(scale.Now(), before);
}

TEST(TickScaleTest, LengthsAreRoundedDownAndUp) {
  ClockScale scale = ClockScale::TimeStampCounter();
  scale.Update();
  EXPECT_GT(scale.ticks_per_nano(), 0);
  EXPECT_EQ(scale.Nanos(0), 0u);
  EXPECT_EQ(scale.NanosUp(0), 0u);
  for (uint64_t ticks = 1; ticks < uint64_t{1} << 50; ticks = ticks * 3 + 1) {
    const double exact = static_cast<double>(ticks) / scale.ticks_per_nano();
    EXPECT_LE(static_cast<double>(scale.Nanos(ticks)), exact * (1 + 1e-12));
    EXPECT_GE(static_cast<double>(scale.NanosUp(ticks)), exact * (1 - 1e-12));
    EXPECT_LE(scale.NanosUp(ticks) - scale.Nanos(ticks), 1u);
  }
}

// The rate is measured over 10 ms at least, to 1 in 10,000: a present moment is between readings of
// the kernel's clock before and after it, give or take that share of the session's length.
TEST(TickScaleTest, MomentsMatchTheKernelsClock) {
  ClockScale scale = ClockScale::TimeStampCounter();
  const uint64_t begin = MonotonicNanos();
  scale.Update();
  for (int i = 0; i < 100; ++i) {
    const uint64_t before = MonotonicNanos();
    const uint64_t moment = scale.Monotonic(scale.Now());
    const uint64_t after = MonotonicNanos();
    const uint64_t error = 50'000 + (after - begin) / 10'000;
    EXPECT_GE(moment + error, before);
    EXPECT_LE(moment, after + error);
  }
}

TEST(TickScaleTest, MomentsBeforeTheFirstReadingStayBeforeIt) {
  ClockScale scale = ClockScale::TimeStampCounter();
  scale.Update();
  const uint64_t now = scale.Now();
  EXPECT_LT(scale.Monotonic(now - uint64_t{10'000'000'000}), scale.Monotonic(now));
  EXPECT_LE(scale.Monotonic(now), scale.Monotonic(now + 1));
}

}  // namespace
}  // namespace jtrace::calls
