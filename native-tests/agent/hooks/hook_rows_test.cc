#include "agent/hooks/hook_rows.h"

#include <gtest/gtest.h>

#include <memory>

namespace jtrace::hooks {
namespace {

hot::HookCaller Caller(uint64_t node, uint32_t site) {
  hot::HookCaller caller = {};
  caller.node = node;
  caller.site = site;
  caller.position_known = true;
  return caller;
}

TEST(HookRowsTest, KeepsARowByCaller) {
  const auto rows = std::make_unique<hot::HookRows>();
  for (uint64_t node = 1; node <= 100; ++node) ++rows->Row(Caller(node, 1))->calls;
  for (uint64_t node = 1; node <= 100; ++node) ++rows->Row(Caller(node, 1))->calls;
  EXPECT_EQ(rows->count.load(), 100u);
  EXPECT_EQ(rows->Row(Caller(7, 1))->calls, 2u);
  EXPECT_EQ(rows->Row(Caller(7, 2))->calls, 0u);
  rows->Clear();
  EXPECT_EQ(rows->Row(Caller(7, 1))->calls, 0u);
  EXPECT_EQ(rows->count.load(), 1u);
}

TEST(HookRowsTest, CallersWithoutRoomAreAddedUpBySite) {
  const auto rows = std::make_unique<hot::HookRows>();
  constexpr uint64_t kCallers = 10'000;
  for (uint64_t node = 1; node <= kCallers; ++node) ++rows->Row(Caller(node, 3))->calls;
  uint64_t sum = 0;
  for (uint32_t i = 0; i < rows->count.load(); ++i) sum += rows->rows[i].calls;
  EXPECT_EQ(sum, kCallers);
  const hot::HookRow& last = rows->rows[rows->count.load() - 1];
  EXPECT_EQ(last.caller.node, 0u);
  EXPECT_FALSE(last.caller.position_known);
  EXPECT_GT(last.calls, 1u);
}

}  // namespace
}  // namespace jtrace::hooks
