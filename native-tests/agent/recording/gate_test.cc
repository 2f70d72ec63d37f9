#include "agent/recording/gate.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

static std::atomic<int> g_hours_a_look{0};

// In place of the C library's: the clock of the day moves on with each look.
extern "C" int clock_gettime(clockid_t clock, timespec* now) noexcept {
  static std::atomic<int> hours{0};
  const auto result = static_cast<int>(syscall(SYS_clock_gettime, clock, now));
  if (clock == CLOCK_REALTIME) now->tv_sec += 3600 * (hours += g_hours_a_look);
  return result;
}

namespace jtrace {
namespace {

// Like a recording: its parts are plain memory, which is freed when it is retired.
struct Thing {
  std::string text = "a text that is too long for the object itself";
  std::unique_ptr<int> part = std::make_unique<int>(7);
};

TEST(GateTest, AClosedGateGivesNothing) {
  Gate<Thing> gate;
  EXPECT_FALSE(Gate<Thing>::Inside(gate));
  EXPECT_FALSE(gate.Close());
  Thing thing;
  gate.Open(thing);
  {
    const Gate<Thing>::Inside inside(gate);
    ASSERT_TRUE(inside);
    EXPECT_EQ(*inside->part, 7);
  }
  EXPECT_TRUE(gate.Close());
  EXPECT_FALSE(Gate<Thing>::Inside(gate));
}

TEST(GateTest, ACallbackInsideKeepsTheObject) {
  Gate<Thing> gate;
  Thing thing;
  gate.Open(thing);
  {
    const Gate<Thing>::Inside inside(gate);
    gate.Close();
    EXPECT_FALSE(gate.WaitUntilEmpty(absl::Milliseconds(20)));
    EXPECT_EQ(inside->text.substr(0, 6), "a text");
  }
  EXPECT_TRUE(gate.WaitUntilEmpty(absl::ZeroDuration()));
}

// Somebody sets the clock of the day while the end of a recording waits.
TEST(GateTest, TheClockOfTheDayMayBeSet) {
  Gate<Thing> gate;
  Thing thing;
  gate.Open(thing);
  std::atomic<bool> is_inside{false};
  std::thread callback([&] {
    const Gate<Thing>::Inside inside(gate);
    is_inside.store(true);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  });
  while (!is_inside.load()) std::this_thread::yield();
  gate.Close();
  g_hours_a_look = 1;
  EXPECT_TRUE(gate.WaitUntilEmpty(absl::Minutes(5)));
  g_hours_a_look = 0;
  callback.join();
}

// Under sanitizers: callbacks on three threads while objects are created and retired.
TEST(GateTest, NoCallbackUsesARetiredObject) {
  constexpr int kThings = 300;
  Gate<Thing> gate;
  std::atomic<bool> goes_on{true};
  std::atomic<int> used{0};
  std::vector<std::thread> callbacks;
  for (int i = 0; i < 3; ++i) {
    callbacks.emplace_back([&] {
      while (goes_on.load()) {
        const Gate<Thing>::Inside inside(gate);
        if (!inside) continue;
        ASSERT_EQ(*inside->part, 7);
        ASSERT_FALSE(inside->text.empty());
        used.fetch_add(1);
      }
    });
  }
  for (int i = 0; i < kThings; ++i) {
    auto thing = std::make_unique<Thing>();
    const int before = used.load();
    gate.Open(*thing);
    while (used.load() == before) std::this_thread::yield();
    gate.Close();
    ASSERT_TRUE(gate.WaitUntilEmpty(absl::InfiniteDuration()));
    thing.reset();
  }
  goes_on.store(false);
  for (std::thread& thread : callbacks) thread.join();
}

}  // namespace
}  // namespace jtrace
