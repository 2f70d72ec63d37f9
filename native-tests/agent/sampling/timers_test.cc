#include "agent/sampling/timers.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace jtrace::sampling {
namespace {

using ::testing::HasSubstr;

// From 2 on, cpu-clock is refused: it counts the kernel's work.
TEST(TimersTest, RemedyIsTheSysctlOnlyWhereItForbids) {
  for (int paranoid : {2, 3, 4}) {
    EXPECT_EQ(PerfEventRemedy(paranoid), "sysctl kernel.perf_event_paranoid=1");
  }
  for (int paranoid : {1, 0, -1}) EXPECT_THAT(PerfEventRemedy(paranoid), HasSubstr("seccomp"));
}

}  // namespace
}  // namespace jtrace::sampling
