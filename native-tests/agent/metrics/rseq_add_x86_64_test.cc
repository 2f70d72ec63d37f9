#include <gtest/gtest.h>
#include <signal.h>

#include <cstdint>

#include "agent/metrics/rseq_add.h"

namespace jtrace::metrics {
namespace {

volatile sig_atomic_t steps = 0;
void CountStep(int) { steps = steps + 1; }

// Makes the processor trap after each instruction from here on, or no longer.
void SetSingleStep(bool on) {
  const uint64_t trap = on ? 0x100 : 0;
  asm volatile(
      "leaq -128(%%rsp), %%rsp\n"
      "pushfq\n"
      "andq $~0x100, (%%rsp)\n"
      "orq %0, (%%rsp)\n"
      "popfq\n"
      "leaq 128(%%rsp), %%rsp\n"
      :
      : "r"(trap)
      : "memory", "cc");
}

// A signal after each instruction, from the first of the section on: an addition that did not
// restart would be made. (Losses by migration are too rare for the tests above to see.)
TEST(RseqAdd, AnInterruptedAdditionIsNotMade) {
  void* const area = RseqArea();
  if (area == nullptr) GTEST_SKIP() << "this C library registers no thread";
  struct sigaction action = {}, before;
  action.sa_handler = CountStep;
  sigaction(SIGTRAP, &action, &before);
  alignas(64) int64_t slot = 0;
  SetSingleStep(true);
  const bool added = RseqAdd(area, reinterpret_cast<char*>(&slot), 0, ~0u, 1);
  SetSingleStep(false);
  sigaction(SIGTRAP, &before, nullptr);
  EXPECT_GT(steps, 5) << "it was stepped through";
  EXPECT_FALSE(added);
  EXPECT_EQ(slot, 0);
  const bool added_at_last = [&] {
    for (int i = 0; i < 1000; ++i) {
      if (RseqAdd(area, reinterpret_cast<char*>(&slot), 0, ~0u, 1)) return true;
    }
    return false;
  }();
  EXPECT_TRUE(added_at_last);
  EXPECT_EQ(slot, 1);
  EXPECT_FALSE(RseqAdd(area, reinterpret_cast<char*>(&slot), 0, /*cpus=*/0, 1)) << "no such slot";
  EXPECT_EQ(slot, 1);
}

}  // namespace
}  // namespace jtrace::metrics
