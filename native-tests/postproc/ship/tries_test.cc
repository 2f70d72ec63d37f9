// A trace that a target does not take does not stop the next ones.
#include "postproc/ship/tries.h"

#include <gtest/gtest.h>

namespace jtrace::ship {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(1'800'000'000);

TEST(TriesTest, AfterFiveTheNextTraceGoesFirst) {
  Tries tries;
  const SealedTrace trace = {.name = "a.bin", .path = "/a.bin", .inode = 1};
  const absl::Time next = kNow + absl::Seconds(30);
  for (int i = 1; i < Tries::kMost; ++i) tries.Failed(trace, "otlp", false, next);
  EXPECT_FALSE(tries.IsResting(trace, "otlp", next));
  tries.Failed(trace, "otlp", false, next);
  EXPECT_TRUE(tries.IsResting(trace, "otlp", next));
  EXPECT_FALSE(tries.IsResting(trace, "pprof", next));
  EXPECT_FALSE(tries.IsResting({.name = "b.bin", .path = "/b.bin"}, "otlp", next));
  EXPECT_FALSE(tries.IsResting(trace, "otlp", next + absl::Minutes(1)));
  tries.Forget(trace, "otlp");
  EXPECT_FALSE(tries.IsResting(trace, "otlp", next));
}

TEST(TriesTest, BrokenConversionsAreCounted) {
  Tries tries;
  const SealedTrace trace = {.name = "a.bin", .path = "/a.bin", .inode = 1};
  EXPECT_EQ(tries.Failed(trace, "otlp", true, kNow), 1);
  EXPECT_EQ(tries.Failed(trace, "otlp", false, kNow), 1);
  EXPECT_EQ(tries.Failed(trace, "otlp", true, kNow), 2);
}

TEST(TriesTest, ForgetsTracesThatLeft) {
  Tries tries;
  const SealedTrace a = {.name = "a.bin", .path = "/a.bin", .inode = 1};
  const SealedTrace b = {.name = "b.bin", .path = "/b.bin", .inode = 2};
  for (const SealedTrace& trace : {a, b}) tries.Failed(trace, "otlp", false, kNow);
  tries.ForgetAllBut({b});
  EXPECT_EQ(tries.size(), 1u);
  EXPECT_FALSE(tries.HasFailed(a, "otlp"));
  EXPECT_TRUE(tries.HasFailed(b, "otlp"));
}

}  // namespace
}  // namespace jtrace::ship
