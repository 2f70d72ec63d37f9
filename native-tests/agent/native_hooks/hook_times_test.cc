// The times of calls of hooked functions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <time.h>

#include <thread>

#include "agent/base/clock.h"
#include "agent/native_hooks/hook_handler.h"
#include "native-tests/agent/native_hooks/code_buffer.h"
#include "native-tests/agent/native_hooks/hooks_fixture.h"

namespace jtrace::native_hooks {
namespace {

TEST_F(HooksTest, TimesCallsWhoseReturnIsAwaited) {
  constexpr int64_t kTime = 2'000'000;
  Begin(In("hooked_sleep", "time"));
  CallUntilAwaited([] { hooked_call_sleep(1); });
  for (int i = 0; i < 5; ++i) EXPECT_EQ(hooked_call_sleep(kTime), kTime);
  const HookRow row = Fetch("hooked_sleep");
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
  const HookRow row = Fetch("hooked_recurse");
  EXPECT_EQ(row.calls, 11u);
  EXPECT_EQ(row.timed, 11u);
}

// The handler sees their end at the next call, which is in the same place: their times are too long
// by what was between, never too short, and the next call's is its own.
TEST_F(HooksTest, CallsLeftByAnExceptionLastUntilTheNextOne) {
  constexpr int64_t kPause = 50'000'000;
  Begin(In("hooked_may_throw", "time"));
  CallUntilAwaited([] { hooked_try(1, 0); });
  EXPECT_EQ(hooked_try(0, kPause), -1);  // it pauses, and calls once more
  HookRow row = Fetch("hooked_may_throw");
  EXPECT_EQ(row.calls, 2u);
  EXPECT_EQ(row.timed, 2u);
  EXPECT_GE(row.max_ns, static_cast<uint64_t>(kPause));
  EXPECT_LT(row.min_ns, static_cast<uint64_t>(kPause));
  // They do not affect the next recording.
  hooked_try(0, 0);
  hooks_.End();
  Begin(In("hooked_may_throw", "time"));
  CallUntilAwaited([] { hooked_try(1, 0); });
  hooked_try(1, 0);
  row = Fetch("hooked_may_throw");
  EXPECT_EQ(row.calls, 2u);
  EXPECT_EQ(row.timed, 2u);
}

TEST_F(HooksTest, CallsLeftByLongjmpKeepTheirTimes) {
  constexpr int64_t kTime = 2'000'000;
  Begin(In("hooked_leave", "time"));
  CallUntilAwaited([] { hooked_try_jump(0, 1); });
  const uint64_t left_before = hook_counters.unwound_calls.load();
  const uint64_t begin_ns = MonotonicNanos();
  for (int i = 0; i < 5; ++i) EXPECT_EQ(hooked_try_jump(1, kTime), 1);
  EXPECT_EQ(hooked_try_jump(0, kTime), 0);
  const uint64_t all_ns = MonotonicNanos() - begin_ns;
  const HookRow row = Fetch("hooked_leave");
  EXPECT_EQ(row.calls, 6u);
  EXPECT_EQ(row.timed, 6u);
  EXPECT_GE(row.min_ns, static_cast<uint64_t>(kTime));
  EXPECT_LE(row.total_ns, all_ns);
  EXPECT_EQ(hook_counters.unwound_calls.load() - left_before, 5u);
}

void CallTimedFunction(int) { hooked_call_sleep(1); }

// The alternate stack is above the thread's own here, so its calls look like the callers of those
// that the signal interrupted.
TEST_F(HooksTest, ASignalHandlersCallsDoNotCloseTheInterruptedOnes) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "the sanitizer's sigaction() blocks all signals in handlers, traps too";
#endif
  Begin(In("hooked_raise", "time") + ";" + In("hooked_sleep", "time"));
  alignas(16) char alternate[64 * 1024];
  struct sigaction action {};
  action.sa_handler = CallTimedFunction;
  action.sa_flags = SA_ONSTACK;
  ASSERT_EQ(sigaction(SIGUSR2, &action, nullptr), 0);
  std::thread([&] {
    ASSERT_GT(reinterpret_cast<uintptr_t>(alternate),
              reinterpret_cast<uintptr_t>(__builtin_frame_address(0)));
    const stack_t stack = {alternate, 0, sizeof alternate};
    stack_t before;
    ASSERT_EQ(sigaltstack(&stack, &before), 0);
    CallUntilAwaited(hooked_call_raise);
    hooked_call_raise();
    // ASan frees the thread's alternate stack at its end, and takes it for its own.
    ASSERT_EQ(sigaltstack(&before, nullptr), 0);
  }).join();
  const auto rows = FetchAll();
  EXPECT_EQ(rows.at("hooked_raise").calls, 1u);
  EXPECT_EQ(rows.at("hooked_raise").timed, 1u);
  EXPECT_EQ(rows.at("hooked_sleep").timed, 1u);
  EXPECT_GE(rows.at("hooked_raise").total_ns, rows.at("hooked_sleep").total_ns);
}

uint8_t ByteAt(uintptr_t address) { return *reinterpret_cast<const volatile uint8_t*>(address); }

TEST_F(HooksTest, RemovingTheLastTimedHookRemovesReturnSites) {
  Begin(In("hooked_sleep", "time") + ";" + In("hooked_may_throw", "time"));
  uintptr_t back = 0;
  hooked_call_sleep(1);
  reader_.ForEachWantedReturn([&](uintptr_t address) { hooks_.PlaceReturnSite(back = address); });
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
    reader_.ForEachWantedReturn([&](uintptr_t address) {
      ++asked;
      hooks_.PlaceReturnSite(address);
    });
  }
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(Fetch("hooked_square").timed, 0u);
}

}  // namespace
}  // namespace jtrace::native_hooks
