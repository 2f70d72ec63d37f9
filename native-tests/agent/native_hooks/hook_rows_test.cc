#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>

#include "agent/native_hooks/hook_source.h"
#include "agent/native_hooks/trap_signal.h"

namespace jtrace::native_hooks {
namespace {

HookCaller Caller(uint64_t node, uint32_t placement) {
  HookCaller caller = {};
  caller.node = node;
  caller.placement = placement;
  caller.position_known = true;
  return caller;
}

TEST(HookRowsTest, KeepsARowByCaller) {
  const auto rows = std::make_unique<HookRows>();
  for (uint64_t node = 1; node <= 100; ++node) ++rows->Row(Caller(node, 1))->calls;
  for (uint64_t node = 1; node <= 100; ++node) ++rows->Row(Caller(node, 1))->calls;
  EXPECT_EQ(rows->count.load(), 100u);
  EXPECT_EQ(rows->Row(Caller(7, 1))->calls, 2u);
  EXPECT_EQ(rows->Row(Caller(7, 2))->calls, 0u);
  rows->Clear();
  EXPECT_EQ(rows->Row(Caller(7, 1))->calls, 0u);
  EXPECT_EQ(rows->count.load(), 1u);
}

TEST(HookRowsTest, CallersWithoutRoomAreSummedByHook) {
  const auto rows = std::make_unique<HookRows>();
  constexpr uint64_t kCallers = 10'000;
  for (uint64_t node = 1; node <= kCallers; ++node) ++rows->Row(Caller(node, 3))->calls;
  uint64_t sum = 0;
  for (uint32_t i = 0; i < rows->count.load(); ++i) sum += rows->rows[i].calls;
  EXPECT_EQ(sum, kCallers);
  const HookRow& last = rows->rows[rows->count.load() - 1];
  EXPECT_EQ(last.caller.node, 0u);
  EXPECT_FALSE(last.caller.position_known);
  EXPECT_GT(last.calls, 1u);
}

uint64_t CallsIn(HookRowReader& reader) {
  uint64_t calls = 0;
  reader.Drain([&](const HookRow& row) { calls += row.calls; });
  return calls;
}

TEST(HookRowsTest, RowsLeftInAHandlerAreDrainedWithLaterOnes) {
  ASSERT_TRUE(PrepareTrapHandler().ok());
  HookRowReader reader;
  reader.Drain([](const HookRow&) {});
  HookThread& thread = hook_threads.load()[hook_threads_used.fetch_add(1)];
  thread.os_tid = gettid();
  thread.busy = 1;
  thread.rows[thread.active].Row(Caller(1, 1))->calls = 3;
  EXPECT_EQ(CallsIn(reader), 0u);
  EXPECT_TRUE(reader.has_left());
  thread.rows[thread.active].Row(Caller(1, 1))->calls = 4;
  thread.busy = 0;
  EXPECT_EQ(CallsIn(reader), 7u);
  EXPECT_FALSE(reader.has_left());
  thread.os_tid = 0;
  free_hook_threads.fetch_add(1);
}

}  // namespace
}  // namespace jtrace::native_hooks
