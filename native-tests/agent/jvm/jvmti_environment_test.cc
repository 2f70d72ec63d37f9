#include "agent/jvm/jvmti_environment.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace jtrace::jvm {
namespace {

// A JVM that gives out environments and keeps what was requested of them.
struct FakeJvm {
  FakeJvm();

  JavaVM vm{};
  JNIInvokeInterface_ functions{};
  jvmtiInterface_1_ tools{};
  std::atomic<int> opened{0};
  std::atomic<int> disposed{0};
  bool gives_environments = true;
  void* owner = nullptr;
  jvmtiCapabilities offered = {};
  jvmtiCapabilities held = {};
  std::vector<jvmtiEvent> enabled;
};

FakeJvm* the_fake;

jint GetEnv(JavaVM*, void** env, jint) {
  if (!the_fake->gives_environments) return JNI_EDETACHED;
  ++the_fake->opened;
  absl::SleepFor(absl::Milliseconds(20));  // so that threads meet here
  auto* const made = new jvmtiEnv();
  made->functions = &the_fake->tools;
  *env = made;
  return JNI_OK;
}

jvmtiError SetEventNotificationMode(jvmtiEnv*, jvmtiEventMode mode, jvmtiEvent event, jthread,
                                    ...) {
  if (mode == JVMTI_ENABLE) {
    the_fake->enabled.push_back(event);
  } else {
    std::erase(the_fake->enabled, event);
  }
  return JVMTI_ERROR_NONE;
}

FakeJvm::FakeJvm() {
  the_fake = this;
  functions.GetEnv = GetEnv;
  vm.functions = &functions;
  tools.SetEnvironmentLocalStorage = [](jvmtiEnv*, const void* data) {
    the_fake->owner = const_cast<void*>(data);
    return JVMTI_ERROR_NONE;
  };
  tools.GetEnvironmentLocalStorage = [](jvmtiEnv*, void** data) {
    *data = the_fake->owner;
    return JVMTI_ERROR_NONE;
  };
  tools.SetEventCallbacks = [](jvmtiEnv*, const jvmtiEventCallbacks*, jint) {
    return JVMTI_ERROR_NONE;
  };
  tools.DisposeEnvironment = [](jvmtiEnv* env) {
    ++the_fake->disposed;
    delete env;
    return JVMTI_ERROR_NONE;
  };
  tools.GetPotentialCapabilities = [](jvmtiEnv*, jvmtiCapabilities* offered) {
    *offered = the_fake->offered;
    return JVMTI_ERROR_NONE;
  };
  tools.AddCapabilities = [](jvmtiEnv*, const jvmtiCapabilities* wanted) {
    the_fake->held = *wanted;
    return JVMTI_ERROR_NONE;
  };
  tools.GetCapabilities = [](jvmtiEnv*, jvmtiCapabilities* held) {
    *held = the_fake->held;
    return JVMTI_ERROR_NONE;
  };
  tools.RelinquishCapabilities = [](jvmtiEnv*, const jvmtiCapabilities* given_back) {
    EXPECT_EQ(std::memcmp(given_back, &the_fake->held, sizeof(*given_back)), 0);
    the_fake->held = {};
    return JVMTI_ERROR_NONE;
  };
  tools.SetEventNotificationMode = SetEventNotificationMode;
}

TEST(EnvironmentTest, ThreadsThatOpenItAtTheSameTimeGetTheSame) {
  FakeJvm fake;
  int owner = 0;
  Environment environment(&fake.vm, &owner, {});
  EXPECT_EQ(environment.get(), nullptr);
  constexpr int kThreads = 8;
  std::vector<jvmtiEnv*> got(kThreads);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] { got[i] = environment.Open(); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(fake.opened, 1);
  for (jvmtiEnv* const env : got) EXPECT_EQ(env, environment.get());
  EXPECT_EQ(OwnerOf<int>(environment.get()), &owner);
}

TEST(EnvironmentTest, IsNullIfTheJvmGivesNone) {
  FakeJvm fake;
  fake.gives_environments = false;
  Environment environment(&fake.vm, nullptr, {});
  EXPECT_EQ(environment.Open(), nullptr);
  environment.Stop();
  environment.Dispose();
  EXPECT_EQ(fake.disposed, 0);
}

TEST(EnvironmentTest, ANewOneIsOpenedAfterTheOldOneIsDisposedOf) {
  FakeJvm fake;
  {
    Environment environment(&fake.vm, nullptr, {});
    EXPECT_NE(environment.Open(), nullptr);
    environment.Dispose();
    EXPECT_EQ(environment.get(), nullptr);
    EXPECT_NE(environment.Open(), nullptr);
    EXPECT_EQ(fake.disposed, 1);
  }
  EXPECT_EQ(fake.opened, 2);
  EXPECT_EQ(fake.disposed, 2);
}

TEST(EnvironmentTest, AStopGivesBackWhatWasAdded) {
  FakeJvm fake;
  fake.offered.can_generate_monitor_events = 1;
  Environment environment(&fake.vm, nullptr, {});
  ASSERT_NE(environment.Open(), nullptr);
  jvmtiCapabilities wanted = {};
  wanted.can_generate_monitor_events = 1;
  wanted.can_generate_exception_events = 1;
  const jvmtiCapabilities held = environment.AddCapabilities(wanted);
  EXPECT_EQ(held.can_generate_monitor_events, 1u);
  EXPECT_EQ(held.can_generate_exception_events, 0u) << "the JVM does not offer it";
  ASSERT_TRUE(environment.Enable({JVMTI_EVENT_MONITOR_WAIT, JVMTI_EVENT_MONITOR_WAITED}).ok());
  EXPECT_EQ(fake.enabled.size(), 2u);
  environment.Stop();
  EXPECT_TRUE(fake.enabled.empty());
  EXPECT_EQ(fake.held.can_generate_monitor_events, 0u);
}

}  // namespace
}  // namespace jtrace::jvm
