// Hooks do not count jtrace's work in the program's threads.
#include "agent/hot/own_work.h"

#include <gtest/gtest.h>

#include "native-tests/agent/hooks/hooks_fixture.h"

namespace jtrace::hooks {
namespace {

int64_t AddTwice(int64_t x) { return hooked_add(x) + hooked_add(x); }

TEST_F(HooksTest, DoesNotCountJtracesOwnWork) {
  Begin(In("hooked_add", "count"));
  hooked_add(1);
  {
    const hot::OwnWork own;
    EXPECT_EQ(hooked_add(2), 7);
    {
      const hot::OwnWork nested;
      hooked_add(3);
    }
    hooked_add(4);
  }
  EXPECT_EQ(hot::kAsOwn<AddTwice>(5), 32);
  EXPECT_EQ(Fetch("hooked_add").calls, 1u);
  hooked_add(6);
  EXPECT_EQ(Fetch("hooked_add").calls, 1u);
  EXPECT_EQ(Calls("hooked_add").calls, 2u);
}

TEST_F(HooksTest, CountsTheProgramsWorkInsideJtraces) {
  Begin(In("hooked_add", "count"));
  const hot::OwnWork own;
  const hot::OwnWork nested;
  {
    const hot::ProgramsWork programs;
    AddTwice(1);
    hot::kAsOwn<AddTwice>(2);
  }
  hooked_add(3);
  EXPECT_EQ(Fetch("hooked_add").calls, 2u);
}

TEST_F(HooksTest, AnExceptionEndsJtracesOwnWork) {
  Begin(In("hooked_add", "count"));
  try {
    const hot::OwnWork own;
    throw 1;
  } catch (int) {
  }
  hooked_add(1);
  EXPECT_EQ(Fetch("hooked_add").calls, 1u);
}

// An awaited return belongs to the program's call.
TEST_F(HooksTest, JtracesOwnCallsHaveNoTimes) {
  Begin(In("hooked_sleep", "time"));
  const auto call = [] { return hooked_call_sleep(1); };
  CallUntilAwaited(call);
  call();
  {
    const hot::OwnWork own;
    call();
  }
  call();
  const hot::HookRow row = Fetch("hooked_sleep");
  EXPECT_EQ(row.calls, 2u);
  EXPECT_EQ(row.timed, 2u);
}

}  // namespace
}  // namespace jtrace::hooks
