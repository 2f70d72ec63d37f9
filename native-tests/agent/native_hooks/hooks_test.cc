// Hooks in functions that threads run meanwhile.
#include "agent/native_hooks/hooks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "absl/strings/str_format.h"
#include "agent/native_hooks/displaced_instruction.h"
#include "agent/native_hooks/object_functions.h"
#include "native-tests/agent/native_hooks/hooks_fixture.h"

namespace jtrace::native_hooks {
namespace {

using testing::HasSubstr;

LoadedDso HookedObject() {
  for (LoadedDso& object : LoadedDsos()) {
    if (object.name == kObject) return std::move(object);
  }
  return {};
}

TEST_F(HooksTest, CountsEveryCallAndChangesNoResult) {
  Begin(In("hooked_add", "count"));
  for (int64_t i = 0; i < 1000; ++i) EXPECT_EQ(hooked_add(i), 3 * i + 1);
  const HookRow row = Fetch("hooked_add");
  EXPECT_EQ(row.calls, 1000u);
  EXPECT_EQ(row.timed, 0u);
  hooks_.End();
  EXPECT_EQ(hooked_add(5), 16);
  EXPECT_EQ(hooks_.All().size(), 0u);
}

// Another hook is placed and removed all the time, in code that the same threads run.
TEST_F(HooksTest, CountsExactlyWhileAnotherHookIsPlacedAndRemoved) {
  constexpr int kThreads = 8;
  constexpr int64_t kCallsOfThread = 25'000;
  constexpr int kChanges = 1000;
  Begin(In("hooked_add", "count"));
  std::atomic<int64_t> wrong{0};
  std::atomic<bool> changed{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int64_t i = 0; i < kCallsOfThread || !changed.load(); ++i) {
        if (i < kCallsOfThread && hooked_add(i) != 3 * i + 1) ++wrong;
        if (hooked_square(i) != i * i) ++wrong;
      }
    });
  }
  uint64_t adds = 0;
  uint64_t squares = 0;
  const auto fetch = [&] {
    const std::map<std::string, HookRow> rows = FetchAll();
    EXPECT_FALSE(rows.contains(""));  // every call knows its hook, even a removed one
    if (rows.contains("hooked_add")) adds += rows.at("hooked_add").calls;
    if (rows.contains("hooked_square")) squares += rows.at("hooked_square").calls;
  };
  for (int i = 0; i < kChanges; ++i) {
    const auto on = hooks_.Apply(Specs(In("hooked_square", "count")));
    EXPECT_TRUE(on.ok()) << on.status();
    const auto off = hooks_.Apply(Specs(In("hooked_square", "off")));
    EXPECT_TRUE(off.ok()) << off.status();
    if (i % 10 == 0) fetch();  // most of the hooks are removed when their calls are fetched
  }
  changed = true;
  for (std::thread& thread : threads) thread.join();
  fetch();
  EXPECT_EQ(wrong.load(), 0);
  EXPECT_EQ(adds, uint64_t{kThreads} * kCallsOfThread);
  EXPECT_EQ(Calls("hooked_add").calls, adds);
  EXPECT_EQ(Calls("hooked_add").unattributed, 0u);
  EXPECT_GT(squares, 0u);
  EXPECT_EQ(Calls("hooked_square").calls, squares);
}

// An int3 in the code before an address does not hide where instructions begin.
TEST_F(HooksTest, FindsAddressesAfterAHook) {
  Begin(In("hooked_add", "count"));
  const PlacedHook add = FirstOf("hooked_add");
  const size_t length = InstructionLength(ReadCode(add.address, kMaxInstruction));
  const uintptr_t offset = add.address - HookedObject().bias;
  const auto next = absl::StrFormat("%s!%#x", kObject, offset + length);
  ASSERT_TRUE(hooks_.Apply(Specs(next)).ok());
  EXPECT_EQ(hooked_add(5), 16);
  EXPECT_EQ(Fetch(absl::StrFormat("hooked_add+%#x", length)).calls, 1u);
  const auto inside = absl::StrFormat("%s!%#x", kObject, offset + 1);
  EXPECT_EQ(hooks_.Apply(Specs(inside)).ok(), length == 1);
}

// Calls of a function that is also a return address, because it follows a call that never returns.
TEST_F(HooksTest, AReturnAddressMayBeAFunctionToo) {
  Begin(In("hooked_add", "count"));
  const LoadedDso object = HookedObject();
  const auto square = FindFunctions(object, "hooked_square");
  ASSERT_EQ(square.size(), 1u);
  hooks_.PlaceReturnSite(square[0].address);
  EXPECT_EQ(hooked_square(3), 9);
  EXPECT_TRUE(FetchAll().empty());
  ASSERT_TRUE(hooks_.Apply(Specs(In("hooked_square", "count"))).ok());
  EXPECT_EQ(hooked_square(3), 9);
  uintptr_t caller = 0;
  reader_.Drain([&](const HookRow& row) { caller = row.caller.address; });
  EXPECT_NE(caller, 0u);
}

TEST_F(HooksTest, AChildOfForkContinues) {
  Begin(In("hooked_add", "count"));
  hooked_add(1);
  const pid_t child = fork();
  if (child == 0) _exit(hooked_add(5) == 16 && hooked_add(2) == 7 ? 0 : 1);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(Fetch("hooked_add").calls, 1u);  // the child counts for itself
}

std::string Refused(const std::string& spec) {
  return std::string(CheckHookSpecs(Specs(spec)).message());
}

TEST_F(HooksTest, RefusesWithAReason) {
  EXPECT_THAT(Refused("libc.so.6!mallok"), HasSubstr("did you mean"));
  EXPECT_THAT(Refused("libc.so.6!memcpy"), HasSubstr("signal handlers"));
  EXPECT_THAT(Refused("libc.so.6!execve"), HasSubstr("posix_spawn"));
  EXPECT_THAT(Refused("libc.so.6!free"), HasSubstr("all signals are blocked"));
  EXPECT_THAT(Refused("libc.so.6!0x8"), HasSubstr("not in the code"));
  EXPECT_THAT(Refused("libc.so.6!malloc:off"), HasSubstr("jtrace hook"));
  EXPECT_EQ(Refused("libc.so.6!malloc"), "");
  EXPECT_EQ(Refused("libnever.so!f"), "");  // it may be loaded later
}

TEST_F(HooksTest, ErrorsDuringARecordingAreReturnedToTheCaller) {
  EXPECT_THAT(std::string(hooks_.Apply(Specs(In("hooked_add", "count"))).status().message()),
              HasSubstr("no recording"));
  hooks_.Begin({});
  EXPECT_THAT(std::string(hooks_.Apply(Specs("libhoked_functions.so!x")).status().message()),
              HasSubstr(kObject));
  EXPECT_THAT(std::string(hooks_.Apply(Specs(In("hooked_add", "off"))).status().message()),
              HasSubstr("there is no hook in"));
  const auto both = hooks_.Apply(Specs(In("hooked_*", "count")));
  ASSERT_TRUE(both.ok()) << both.status();
  EXPECT_THAT(*both, HasSubstr("12 functions"));
  hooked_square(3);
  EXPECT_THAT(hooks_.Describe(), HasSubstr(" calls  libhooked_functions.so!hooked_square"));
  EXPECT_EQ(Fetch("hooked_square").calls, 1u);
}

TEST_F(HooksTest, OnePatternRemovesAllHooks) {
  hooks_.Begin(Specs(In("hooked_*", "count") + ";libnever.so!f"));
  EXPECT_THAT(hooks_.Describe(), HasSubstr("not loaded yet  libnever.so!f"));
  const auto gone = hooks_.Apply(Specs("*!*:off"));
  EXPECT_TRUE(gone.ok()) << gone.status();
  EXPECT_THAT(hooks_.Describe(), HasSubstr("no hooks"));
  EXPECT_FALSE(hooks_.has_pending());
}

TEST_F(HooksTest, AnErrorReportsWhatWasDoneBefore) {
  hooks_.Begin({});
  const auto half = hooks_.Apply(Specs(In("hooked_add", "count") + ";" + In("hooked_ad", "count")));
  EXPECT_THAT(std::string(half.status().message()),
              HasSubstr("did you mean 'hooked_add'?; done before it: count in 1 function"));
}

// Like the report of a crash, which has another handler for traps.
TEST_F(HooksTest, AllInt3AreRemovedAtOnce) {
  Begin(In("hooked_*", "count"));
  ASSERT_EQ(hooks_.All().size(), 12u);
  signal_safe::DisableAllHooks();
  for (const PlacedHook& placed : hooks_.All()) {
    EXPECT_NE(*reinterpret_cast<const volatile uint8_t*>(placed.address), 0xcc) << placed.name;
  }
  EXPECT_EQ(hooked_add(5), 16);
  EXPECT_TRUE(FetchAll().empty());
}

TEST_F(HooksTest, AFullTableLosesNoCall) {
  Begin(In("hooked_add", "count"));
  hooked_add(1);  // the thread has a table
  ASSERT_NE(tls_hook_thread, nullptr);
  HookRows& rows = tls_hook_thread->rows[tls_hook_thread->active.load()];
  uint64_t node = 1;
  while (rows.count.load() < HookRows::kMaxRows) {
    HookCaller caller = {};
    caller.node = ++node;
    caller.placement = static_cast<uint32_t>(node % 1000 + 1'000'000);
    rows.Row(caller);
  }
  for (int i = 0; i < 10; ++i) hooked_add(i);
  const Hooks::Calls calls = Calls("hooked_add");
  const HookRow row = Fetch("hooked_add");
  EXPECT_EQ(row.calls + calls.unattributed, calls.calls);
  EXPECT_EQ(calls.calls, 11u);
}

}  // namespace
}  // namespace jtrace::native_hooks
