// The times of calls of hooked functions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <time.h>

#include "native-tests/agent/hooks/code_buffer.h"
#include "native-tests/agent/hooks/hooks_fixture.h"

namespace jtrace::hooks {
namespace {

TEST_F(HooksTest, TimesCallsWhoseReturnIsAwaited) {
  constexpr int64_t kTime = 2'000'000;
  Begin(In("hooked_sleep", "time"));
  CallUntilAwaited([] { hooked_call_sleep(1); });
  for (int i = 0; i < 5; ++i) EXPECT_EQ(hooked_call_sleep(kTime), kTime);
  const hot::HookRow row = Fetch("hooked_sleep");
  EXPECT_EQ(row.calls, 5u);
  EXPECT_EQ(row.timed, 5u);
  EXPECT_GE(row.min_ns, static_cast<uint64_t>(kTime));  // a sleep is never shorter
  EXPECT_GE(row.total_ns, 5 * row.min_ns);
  EXPECT_LE(row.total_ns, 5 * row.max_ns);
}

TEST_F(HooksTest, TimesNestedCallsSeparately) {
  Begin(In("hooked_recurse", "time"));
  CallUntilAwaited([] { hooked_call_recurse(2); });
  EXPECT_EQ(hooked_call_recurse(10), 10);
  const hot::HookRow row = Fetch("hooked_recurse");
  EXPECT_EQ(row.calls, 11u);
  EXPECT_EQ(row.timed, 11u);
}

// A call left by an exception has no time, and does not affect the next call from the same place.
TEST_F(HooksTest, CallsLeftByAnExceptionHaveNoTime) {
  constexpr int64_t kPause = 50'000'000;
  Begin(In("hooked_may_throw", "time"));
  CallUntilAwaited([] { hooked_try(1, 0); });
  EXPECT_EQ(hooked_try(0, kPause), -1);  // it pauses, and calls once more
  hot::HookRow row = Fetch("hooked_may_throw");
  EXPECT_EQ(row.calls, 2u);
  EXPECT_EQ(row.timed, 1u);
  EXPECT_LT(row.max_ns, static_cast<uint64_t>(kPause));
  // Nor the next recording.
  hooked_try(0, 0);
  hooks_.End();
  Begin(In("hooked_may_throw", "time"));
  CallUntilAwaited([] { hooked_try(1, 0); });
  hooked_try(1, 0);
  row = Fetch("hooked_may_throw");
  EXPECT_EQ(row.calls, 2u);
  EXPECT_EQ(row.timed, 2u);
}

uint8_t ByteAt(uintptr_t address) { return *reinterpret_cast<const volatile uint8_t*>(address); }

TEST_F(HooksTest, RemovingTheLastTimedHookRemovesReturnSites) {
  Begin(In("hooked_sleep", "time") + ";" + In("hooked_may_throw", "time"));
  uintptr_t back = 0;
  hooked_call_sleep(1);
  reader_.TakeWantedReturns([&](uintptr_t address) { hooks_.AwaitReturns(back = address); });
  ASSERT_NE(back, 0u);
  EXPECT_EQ(ByteAt(back), 0xcc);
  ASSERT_TRUE(hooks_.Apply(Specs(In("hooked_may_throw", "off"))).ok());
  EXPECT_EQ(ByteAt(back), 0xcc);
  ASSERT_TRUE(hooks_.Apply(Specs(In("hooked_sleep", "count"))).ok());
  EXPECT_NE(ByteAt(back), 0xcc);
  EXPECT_EQ(hooked_call_sleep(1), 1);
}

// Code that belongs to no object, like the JIT's: requested once.
TEST_F(HooksTest, ReturnsToCodeOfTheJitAreNotWaitedFor) {
  Begin(In("hooked_square", "time"));
  // mov rax, imm64; sub rsp, 8; call rax; add rsp, 8; ret
  static auto* const code =
      new CodeBuffer{0x48, 0xb8, 0, 0,    0,    0,    0,    0,    0, 0,   0x48,
                     0x83, 0xec, 8, 0xff, 0xd0, 0x48, 0x83, 0xc4, 8, 0xc3};
  code->PutValue(2, reinterpret_cast<uintptr_t>(&hooked_square));
  int asked = 0;
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(code->Run(3, 0), 9);
    reader_.TakeWantedReturns([&](uintptr_t address) {
      ++asked;
      hooks_.AwaitReturns(address);
    });
  }
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(Fetch("hooked_square").timed, 0u);
}

}  // namespace
}  // namespace jtrace::hooks
