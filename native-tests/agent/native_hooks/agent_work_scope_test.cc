// Hooks do not count jtrace's work in the program's threads.
#include "agent/signal_safe/agent_work_scope.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <new>

#include "agent/samples/handler/thread_slot.h"
#include "native-tests/agent/native_hooks/hooks_fixture.h"

namespace jtrace::native_hooks {
namespace {

int64_t AddTwice(int64_t x) { return hooked_add(x) + hooked_add(x); }

TEST_F(HooksTest, DoesNotCountJtracesOwnWork) {
  Begin(In("hooked_add", "count"));
  hooked_add(1);
  {
    const signal_safe::AgentWorkScope own;
    EXPECT_EQ(hooked_add(2), 7);
    {
      const signal_safe::AgentWorkScope nested;
      hooked_add(3);
    }
    hooked_add(4);
  }
  EXPECT_EQ(signal_safe::kRunAsAgent<AddTwice>(5), 32);
  EXPECT_EQ(Fetch("hooked_add").calls, 1u);
  hooked_add(6);
  EXPECT_EQ(Fetch("hooked_add").calls, 1u);
  EXPECT_EQ(Calls("hooked_add").calls, 2u);
}

TEST_F(HooksTest, CountsTheProgramsWorkInsideJtraces) {
  Begin(In("hooked_add", "count"));
  const signal_safe::AgentWorkScope own;
  const signal_safe::AgentWorkScope nested;
  {
    const signal_safe::ProgramCallScope programs;
    AddTwice(1);
    signal_safe::kRunAsAgent<AddTwice>(2);
  }
  hooked_add(3);
  EXPECT_EQ(Fetch("hooked_add").calls, 2u);
}

TEST_F(HooksTest, AnExceptionEndsJtracesOwnWork) {
  Begin(In("hooked_add", "count"));
  try {
    const signal_safe::AgentWorkScope own;
    throw 1;
  } catch (int) {
  }
  hooked_add(1);
  EXPECT_EQ(Fetch("hooked_add").calls, 1u);
}

// The thread's slot was given to another one, which is in the agent's handler now.
TEST_F(HooksTest, AnotherThreadsSampleIsNotThisThreadsWork) {
  Begin(In("hooked_add", "count"));
  auto slot = std::make_unique<samples::ThreadSlot>();
  slot->in_handler = true;
  slot->os_tid = gettid();
  samples::tls_thread_slot = slot.get();
  samples::tls_os_tid = gettid();
  hooked_add(1);
  EXPECT_EQ(Calls("hooked_add").calls, 0u);
  slot->os_tid = gettid() + 1;
  hooked_add(1);
  samples::tls_thread_slot = nullptr;
  EXPECT_EQ(Calls("hooked_add").calls, 1u);
}

int64_t ThrowAbove(int64_t x) {
  if (x > 1) throw std::bad_alloc();
  return x;
}
void Throw() { throw std::bad_alloc(); }

// The JVM, which calls such functions, knows no exceptions.
TEST(OwnWorkTest, NoExceptionLeavesIt) {
  EXPECT_EQ(signal_safe::kRunAsAgent<ThrowAbove>(1), 1);
  EXPECT_EQ((signal_safe::kRunAsAgent<ThrowAbove, -5>(2)), -5);
  EXPECT_TRUE(signal_safe::agent_is_disabled.load());
  EXPECT_EQ((signal_safe::kRunAsAgent<ThrowAbove, -5>(1)), -5) << "no more work";
  EXPECT_EQ(signal_safe::kRunAsAgent<ThrowAbove>(1), 0);
  signal_safe::agent_is_disabled.store(false);
  signal_safe::kRunAsAgent<Throw>();
  EXPECT_TRUE(signal_safe::agent_is_disabled.load());
  EXPECT_EQ(signal_safe::tls_agent_work_depth, 0u);
  signal_safe::agent_is_disabled.store(false);
}

// An awaited return belongs to the program's call.
TEST_F(HooksTest, JtracesOwnCallsHaveNoTimes) {
  Begin(In("hooked_sleep", "time"));
  const auto call = [] { return hooked_call_sleep(1); };
  CallUntilAwaited(call);
  call();
  {
    const signal_safe::AgentWorkScope own;
    call();
  }
  call();
  const HookRow row = Fetch("hooked_sleep");
  EXPECT_EQ(row.calls, 2u);
  EXPECT_EQ(row.timed, 2u);
}

}  // namespace
}  // namespace jtrace::native_hooks
