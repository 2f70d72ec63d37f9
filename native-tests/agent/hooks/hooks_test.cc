// Hooks in functions that threads run through meanwhile.
#include "agent/hooks/hooks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <map>
#include <thread>

#include "agent/hooks/hook_rows.h"
#include "native-tests/agent/hooks/hooked_functions.h"

namespace jtrace::hooks {
namespace {

using testing::HasSubstr;

constexpr char kObject[] = "libhooked_functions.so";

std::vector<HookSpec> Specs(const std::string& text) {
  auto specs = ParseHookSpecs(text);
  EXPECT_TRUE(specs.ok()) << specs.status();
  return specs.value_or(std::vector<HookSpec>());
}

std::string In(const char* function, const char* kind) {
  return std::string(kObject) + "!" + function + ":" + kind;
}

class HooksTest : public testing::Test {
 protected:
  HooksTest() {
    reader_.Drain([](const hot::HookRow&) {});
  }
  ~HooksTest() override { hooks_.End(); }

  // Of all rows of the function's site since the last call, by everybody.
  hot::HookRow Fetch(const std::string& function) {
    hot::HookRow sum = {};
    sum.min_ns = UINT64_MAX;
    const uint32_t site = SiteOf(function);
    reader_.Drain([&](const hot::HookRow& row) {
      if (row.caller.site != site) return;
      sum.calls += row.calls;
      sum.timed += row.timed;
      sum.total_ns += row.total_ns;
      sum.min_ns = std::min(sum.min_ns, row.min_ns);
      sum.max_ns = std::max(sum.max_ns, row.max_ns);
    });
    return sum;
  }
  uint32_t SiteOf(const std::string& function) {
    for (const Placed& placed : hooks_.All()) {
      if (placed.name == std::string(kObject) + "!" + function) return placed.site;
    }
    return 0;
  }
  // Calls until the agent has put a site where the calls return to.
  template <typename Call>
  void CallUntilAwaited(const Call& call) {
    for (int i = 0; i < 3; ++i) {
      call();
      reader_.TakeWantedReturns([this](uintptr_t address) { hooks_.AwaitReturns(address); });
    }
    reader_.Drain([](const hot::HookRow&) {});
  }

  // Sites outlive recordings, and there is one table of them in a process.
  static Losses& AllLosses() {
    static auto* const losses = new Losses;
    return *losses;
  }
  static Hooks& AllHooks() {
    static auto* const hooks = new Hooks(AllLosses());
    return *hooks;
  }
  // Since the test began.
  Hooks::Calls Calls(const std::string& function) {
    const uint32_t site = SiteOf(function);
    const Hooks::Calls now = hooks_.CallsOf(site);
    const auto before = before_.find(site);
    if (before == before_.end()) return now;
    return {now.calls - before->second.calls, now.unattributed - before->second.unattributed};
  }
  void Begin(const std::string& specs) {
    hooks_.Begin(Specs(specs));
    for (const Placed& placed : hooks_.All()) before_[placed.site] = hooks_.CallsOf(placed.site);
  }

  Hooks& hooks_ = AllHooks();
  HookRowReader reader_;
  std::map<uint32_t, Hooks::Calls> before_;
};

TEST_F(HooksTest, CountsEveryCallAndChangesNoResult) {
  Begin(In("hooked_add", "count"));
  for (int64_t i = 0; i < 1000; ++i) EXPECT_EQ(hooked_add(i), 3 * i + 1);
  const hot::HookRow row = Fetch("hooked_add");
  EXPECT_EQ(row.calls, 1000u);
  EXPECT_EQ(row.timed, 0u);
  hooks_.End();
  EXPECT_EQ(hooked_add(5), 16);
  EXPECT_EQ(hooks_.All().size(), 0u);
}

// Another hook comes and goes all the time, in code that the same threads run.
TEST_F(HooksTest, EightThreadsWhileAHookComesAndGoes) {
  constexpr int kThreads = 8;
  constexpr int64_t kCallsOfThread = 25'000;
  constexpr int kChanges = 1000;
  Begin(In("hooked_add", "count"));
  std::atomic<int64_t> wrong{0};
  std::atomic<int64_t> squares{0};
  std::atomic<bool> changed{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      int64_t mine = 0;
      for (int64_t i = 0; i < kCallsOfThread || !changed.load(); ++i, ++mine) {
        if (i < kCallsOfThread && hooked_add(i) != 3 * i + 1) ++wrong;
        if (hooked_square(i) != i * i) ++wrong;
      }
      squares += mine;
    });
  }
  uint64_t adds = 0;
  for (int i = 0; i < kChanges; ++i) {
    const auto on = hooks_.Apply(Specs(In("hooked_square", "count")));
    EXPECT_TRUE(on.ok()) << on.status();
    adds += Fetch("hooked_add").calls;
    const auto off = hooks_.Apply(Specs(In("hooked_square", "off")));
    EXPECT_TRUE(off.ok()) << off.status();
  }
  changed = true;
  for (std::thread& thread : threads) thread.join();
  adds += Fetch("hooked_add").calls;
  EXPECT_EQ(wrong.load(), 0);
  EXPECT_EQ(adds, uint64_t{kThreads} * kCallsOfThread);
  EXPECT_EQ(Calls("hooked_add").calls, adds);
  EXPECT_EQ(Calls("hooked_add").unattributed, 0u);
}

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

TEST_F(HooksTest, TimesNestedCallsEachByItself) {
  Begin(In("hooked_recurse", "time"));
  CallUntilAwaited([] { hooked_call_recurse(2); });
  EXPECT_EQ(hooked_call_recurse(10), 10);
  const hot::HookRow row = Fetch("hooked_recurse");
  EXPECT_EQ(row.calls, 11u);
  EXPECT_EQ(row.timed, 11u);
}

TEST_F(HooksTest, AChildOfForkGoesOn) {
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
  return std::string(CheckHooks(Specs(spec)).message());
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

TEST_F(HooksTest, WhileARecordingRunsErrorsGoToWhoAsked) {
  EXPECT_THAT(std::string(hooks_.Apply(Specs(In("hooked_add", "count"))).status().message()),
              HasSubstr("no recording"));
  hooks_.Begin({});
  EXPECT_THAT(std::string(hooks_.Apply(Specs("libhoked_functions.so!x")).status().message()),
              HasSubstr(kObject));
  EXPECT_THAT(std::string(hooks_.Apply(Specs(In("hooked_add", "off"))).status().message()),
              HasSubstr("no hook stands"));
  const auto both = hooks_.Apply(Specs(In("hooked_*", "count")));
  ASSERT_TRUE(both.ok()) << both.status();
  EXPECT_THAT(*both, HasSubstr("6 functions"));
  hooked_square(3);
  EXPECT_THAT(hooks_.Describe(), HasSubstr(" calls  libhooked_functions.so!hooked_square"));
  EXPECT_EQ(Fetch("hooked_square").calls, 1u);
}

TEST_F(HooksTest, ATableThatIsFullLosesNoCall) {
  Begin(In("hooked_add", "count"));
  hooked_add(1);  // the thread has a table
  ASSERT_NE(hot::tls_hook_thread, nullptr);
  hot::HookRows& rows = hot::tls_hook_thread->rows[hot::tls_hook_thread->active.load()];
  uint64_t node = 1;
  while (rows.count.load() < hot::HookRows::kMost) {
    hot::HookCaller caller = {};
    caller.node = ++node;
    caller.site = static_cast<uint32_t>(node % 1000 + 1000);
    rows.Row(caller);
  }
  for (int i = 0; i < 10; ++i) hooked_add(i);
  const Hooks::Calls calls = Calls("hooked_add");
  const hot::HookRow row = Fetch("hooked_add");
  EXPECT_EQ(row.calls + calls.unattributed, calls.calls);
  EXPECT_EQ(calls.calls, 11u);
}

}  // namespace
}  // namespace jtrace::hooks
