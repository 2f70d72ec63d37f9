#include "agent/base/perf_event.h"

#include <errno.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace jtrace {
namespace {

using ::testing::HasSubstr;

// The kernel's setting answers EACCES, and only it.
TEST(PerfEventTest, RemedyIsTheSysctlOnlyWhereItForbids) {
  EXPECT_EQ(PerfEventRemedy(EACCES), "sysctl kernel.perf_event_paranoid=1");
  for (int error : {EPERM, ENOSYS}) EXPECT_THAT(PerfEventRemedy(error), HasSubstr("seccomp"));
}

}  // namespace
}  // namespace jtrace
