// Actions of SIGTRAP that live forever.
#include "agent/native_hooks/trap_action.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <thread>
#include <vector>

namespace jtrace::native_hooks {
namespace {

struct sigaction WithMask(uint64_t mask) {
  struct sigaction action {};
  std::memcpy(&action.sa_mask, &mask, sizeof mask);
  return action;
}

TEST(TrapActionTest, EqualActionsAreKeptOnce) {
  const struct sigaction* const one = StoreAction(WithMask(1));
  ASSERT_NE(one, nullptr);
  struct sigaction same = WithMask(1);
  same.sa_mask.__val[5] = 7;  // libc's set is larger than the kernel's
  EXPECT_EQ(StoreAction(same), one);
  EXPECT_NE(StoreAction(WithMask(2)), one);
  same.sa_flags = SA_RESTART;
  EXPECT_NE(StoreAction(same), one);
}

TEST(TrapActionTest, ThreadsMayKeepActionsConcurrently) {
  constexpr int kThreads = 4;
  constexpr uint64_t kActions = 16;
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  std::atomic<int> wrong{0};
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (uint64_t i = 0; i < 100 * kActions; ++i) {
        const struct sigaction* const kept = StoreAction(WithMask(i % kActions << 8));
        wrong += kept == nullptr || kept->sa_mask.__val[0] != i % kActions << 8;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace jtrace::native_hooks
