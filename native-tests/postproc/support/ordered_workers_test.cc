#include "postproc/support/ordered_workers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

namespace jtrace::postproc {
namespace {

struct Number {
  int value = 0;
  int square = 0;
};

TEST(OrderedWorkersTest, EveryItemIsProcessedOnceAndReturnedInOrder) {
  for (const int jobs : {1, 2, 4, 9}) {
    int fetched = 0;
    std::atomic<int> worked = 0;
    OrderedWorkers<Number> workers(
        jobs,
        [&](Number& item) {
          item.value = fetched;
          return fetched++ < 2000;
        },
        [&](Number& item) {
          if (item.value % 97 == 0) std::this_thread::sleep_for(std::chrono::microseconds(50));
          item.square = item.value * item.value;
          ++worked;
        },
        [](const Number&) { return size_t{1}; });
    int expected = 0;
    while (const Number* item = workers.Next()) {
      ASSERT_EQ(item->value, expected);
      ASSERT_EQ(item->square, expected * expected);
      ++expected;
    }
    EXPECT_EQ(expected, 2000);
    EXPECT_EQ(worked, 2000);
    EXPECT_EQ(workers.Next(), nullptr);
  }
}

// As many as the bound allows, however slow the owner is.
TEST(OrderedWorkersTest, TheWeightBoundsTheNumberOfItems) {
  for (const size_t weight : {size_t{1}, OrderedWorkers<Number>::kMostWeight}) {
    std::atomic<int> there = 0;  // fetched and not returned
    std::atomic<int> most = 0;
    OrderedWorkers<Number> workers(
        4,
        [&, left = 300](Number&) mutable {
          if (left-- == 0) return false;
          most = std::max<int>(most, ++there);
          return true;
        },
        [](Number&) {}, [&](const Number&) { return weight; });
    int taken = 0;
    while (workers.Next() != nullptr) {
      // This call returned the previous one.
      if (taken++ > 0) --there;
      if (taken % 10 == 0) std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    EXPECT_EQ(taken, 300);
    // Returned before it is counted: one more may seem to exist.
    EXPECT_LE(most, weight == 1 ? 6 : 3);
  }
}

TEST(OrderedWorkersTest, AnEmptySequenceEnds) {
  OrderedWorkers<Number> workers(
      3, [](Number&) { return false; }, [](Number&) {}, [](const Number&) { return size_t{1}; });
  EXPECT_EQ(workers.Next(), nullptr);
}

TEST(OrderedWorkersTest, CanBeLeftBeforeTheEnd) {
  std::atomic<int> worked = 0;
  {
    OrderedWorkers<Number> workers(
        3, [](Number&) { return true; }, [&](Number&) { ++worked; },
        [](const Number&) { return size_t{1}; });
    EXPECT_NE(workers.Next(), nullptr);
  }
  EXPECT_GE(worked, 1);
}

// After the items before it, and with no thread left waiting.
TEST(OrderedWorkersTest, ExceptionsAreThrownInTheirPlace) {
  for (const int jobs : {1, 2, 4}) {
    for (const bool by_fetch : {true, false}) {
      const auto throw_at = [](int value) {
        if (value == 20) throw std::runtime_error("20");
      };
      OrderedWorkers<Number> workers(
          jobs,
          [&, next = 0](Number& item) mutable {
            item.value = next++;
            if (by_fetch) throw_at(item.value);
            return item.value < 100;
          },
          [&](Number& item) {
            if (!by_fetch) throw_at(item.value);
          },
          [](const Number&) { return size_t{1}; });
      for (int i = 0; i < 20; ++i) ASSERT_EQ(workers.Next()->value, i);
      EXPECT_THROW(workers.Next(), std::runtime_error);
    }
  }
}

}  // namespace
}  // namespace jtrace::postproc
