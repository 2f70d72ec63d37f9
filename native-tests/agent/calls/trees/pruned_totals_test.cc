#include "agent/calls/trees/pruned_totals.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <vector>

namespace jtrace::calls {
namespace {

PrunedTotals::Sum Calls(uint64_t calls, uint64_t base = 0, uint64_t least = 0,
                        uint64_t greatest = 0) {
  PrunedTotals::Sum sum;
  sum.calls = calls;
  sum.values.base = base;
  sum.values.least = least;
  sum.values.greatest = greatest;
  return sum;
}

// The knowledge of a reader of the trace.
struct Reader {
  std::map<uint32_t, uint32_t> routine_of;  // by number
  std::map<uint32_t, PrunedTotals::Sum> sums;
  std::set<uint32_t> dropped;

  void Read(PrunedTotals& nodes) {
    nodes.ForEachChanged([this](signal_safe::Ref, PrunedTotals::Below& below) {
      for (const uint32_t routine : below.changed) {
        const PrunedTotals::Sum& sum = below.sums.at(routine);
        EXPECT_EQ(sum.is_new, !sums.contains(sum.number));
        EXPECT_FALSE(dropped.contains(sum.number)) << "numbers are not used again";
        routine_of[sum.number] = routine;
        sums[sum.number] = sum;
      }
    });
  }
  std::map<uint32_t, uint64_t> ByRoutine() const {
    std::map<uint32_t, uint64_t> calls;
    for (const auto& [number, sum] : sums) {
      if (!dropped.contains(number)) calls[routine_of.at(number)] += sum.calls;
    }
    return calls;
  }
};

TEST(PrunedNodesTest, CountsByRoutineStayExact) {
  std::mt19937 random(3);
  PrunedTotals nodes(1 << 20);
  Reader reader;
  std::map<uint32_t, uint64_t> expected;
  uint32_t last_number = 0;
  for (int i = 0; i < 20'000; ++i) {
    const signal_safe::Ref keeper = 1 + random() % 40;
    const uint32_t routine = 1 + random() % 50;
    if (random() % 8 == 0) {
      nodes.MoveUp(keeper, 1 + keeper % 40, last_number,
                   [&](uint32_t number) { reader.dropped.insert(number); });
    } else {
      const uint64_t calls = random() % 100;
      nodes.Add(keeper, routine, Calls(calls), last_number);
      if (calls != 0) expected[routine] += calls;
    }
    if (random() % 20 == 0) reader.Read(nodes);
  }
  reader.Read(nodes);
  EXPECT_EQ(reader.ByRoutine(), expected);
  EXPECT_GT(reader.dropped.size(), 1'000u);
}

TEST(PrunedNodesTest, SumsFillItUntilTheyMoveUp) {
  PrunedTotals nodes(20 * sizeof(PrunedTotals::Sum));
  uint32_t last_number = 0;
  for (signal_safe::Ref keeper = 1; keeper <= 10; ++keeper) {
    EXPECT_FALSE(nodes.IsFull());
    nodes.Add(keeper, 7, Calls(1), last_number);
    nodes.Add(keeper, 7, Calls(1), last_number);
  }
  EXPECT_TRUE(nodes.IsFull());
  nodes.MoveUp(2, 1, last_number, [](uint32_t) {});
  EXPECT_FALSE(nodes.IsFull());
  nodes.Erase(3);
  EXPECT_EQ(nodes.memory_bytes(), 8 * 2 * sizeof(PrunedTotals::Sum));
}

TEST(PrunedNodesTest, KnowsTheExtremesOfOnlyWholeActivations) {
  PrunedTotals nodes(1 << 20);
  uint32_t last_number = 0;
  const auto values_of = [&] {
    NodeValues values;
    nodes.ForEachChanged([&](signal_safe::Ref, PrunedTotals::Below& below) {
      values = below.sums.at(7).ReportedValues();
    });
    return values;
  };
  nodes.Add(1, 7, Calls(2, 30, 10, 20), last_number);
  nodes.Add(1, 7, Calls(1, 5, 5, 5), last_number);
  NodeValues values = values_of();
  EXPECT_EQ(values.least, 5u);
  EXPECT_EQ(values.greatest, 20u);
  // The rest of an activation that was counted in an earlier file.
  nodes.Add(1, 7, Calls(0, 40, 0, 40), last_number);
  values = values_of();
  EXPECT_EQ(values.least, 0u);
  EXPECT_EQ(values.greatest, 75u);
}

TEST(PrunedNodesTest, NewFileCountsFromItsStart) {
  PrunedTotals nodes(1 << 20);
  uint32_t last_number = 0;
  nodes.Add(1, 7, Calls(5), last_number);
  Reader first;
  first.Read(nodes);
  nodes.BeginFile();
  nodes.Add(1, 7, Calls(2), last_number);
  Reader second;
  second.Read(nodes);
  EXPECT_EQ(first.ByRoutine(), (std::map<uint32_t, uint64_t>{{7, 5}}));
  EXPECT_EQ(second.ByRoutine(), (std::map<uint32_t, uint64_t>{{7, 2}}));
}

}  // namespace
}  // namespace jtrace::calls
