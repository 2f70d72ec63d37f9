#include "agent/jvm/thread_table.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace jtrace::jvm {
namespace {

using Access = ThreadTable::Access;

ThreadIdentity Platform(uint64_t java_tid, pid_t os_tid) {
  return {.java_tid = java_tid, .os_tid = os_tid, .java_thread = java_tid << 12};
}

std::vector<uint32_t> ForgottenBy(ThreadTable& table) {
  std::vector<uint32_t> numbers;
  Access(table).ForgetEnded([&](uint32_t number) { numbers.push_back(number); });
  return numbers;
}

TEST(ThreadTableTest, AThreadIsKnownByBothIdsUntilItsEndIsComplete) {
  ThreadTable table;
  Access threads(table);
  ThreadEntry& started = threads.Start(Platform(20, 100));
  EXPECT_EQ(threads.OfJava(20), &started);
  EXPECT_EQ(threads.JavaOn(100), &started);
  EXPECT_EQ(&threads.Start(Platform(20, 100)), &started) << "a start may be reported twice";
  EXPECT_EQ(threads.End(100), &started);
  EXPECT_TRUE(started.has_ended);
  EXPECT_EQ(threads.JavaOn(100), &started);
  threads.Release(20);
  EXPECT_EQ(threads.JavaOn(100), nullptr);
  EXPECT_EQ(threads.OfJava(20), nullptr);
}

TEST(ThreadTableTest, AKernelIdThatIsUsedAgainIsTheNewThreads) {
  ThreadTable table;
  Access threads(table);
  threads.Start(Platform(20, 100)).number = 1;
  ThreadEntry& second = threads.Start(Platform(21, 100));
  EXPECT_EQ(threads.JavaOn(100), &second);
  EXPECT_EQ(second.number, 0u);
  ASSERT_NE(threads.OfJava(20), nullptr) << "the trace may name it";
  EXPECT_TRUE(threads.OfJava(20)->has_ended) << "its end was not reported";
  EXPECT_EQ(threads.End(100), &second);
}

// One thread lists the others, and adopts them some time later.
TEST(ThreadTableTest, AThreadThatHasEndedIsNotAdopted) {
  ThreadTable table;
  Access threads(table);
  threads.Start(Platform(20, 100));
  threads.End(100);
  EXPECT_TRUE(threads.MayBeGone(20, 100));
  EXPECT_EQ(threads.Adopt(Platform(20, 100)), nullptr) << "it is about to end";
  threads.Release(20);
  EXPECT_TRUE(threads.MayBeGone(20, 100));
  EXPECT_EQ(threads.Adopt(Platform(20, 100)), nullptr) << "it is forgotten";
}

TEST(ThreadTableTest, AListedThreadWhoseKernelIdIsAnothersHasEnded) {
  ThreadTable table;
  Access threads(table);
  ThreadEntry& second = threads.Start(Platform(21, 100));
  EXPECT_EQ(threads.Adopt(Platform(20, 100)), nullptr);
  EXPECT_EQ(threads.JavaOn(100), &second);
}

TEST(ThreadTableTest, AThreadThatWasUnknownWhenItEndedMayBeGone) {
  ThreadTable table;
  Access threads(table);
  EXPECT_EQ(threads.End(100), nullptr);
  EXPECT_TRUE(threads.MayBeGone(20, 100));
  EXPECT_FALSE(threads.MayBeGone(20, 101));
  // A pool's thread that leaves the JVM and comes back is another Java thread.
  EXPECT_NE(threads.Adopt(Platform(21, 100)), nullptr);
  threads.Start(Platform(22, 102));
  EXPECT_FALSE(threads.MayBeGone(22, 102));
  threads.Start(Platform(21, 100));
  EXPECT_FALSE(threads.MayBeGone(21, 100)) << "it has reported its start";
}

TEST(ThreadTableTest, AnIdOfAnUnknownThreadIsForgottenAfterAWhile) {
  ThreadTable table;
  Access threads(table);
  constexpr uint64_t kEnd = 1'000;
  threads.End(100, kEnd);
  EXPECT_TRUE(threads.MayBeGone(20, 100, kEnd + ThreadTable::kMaxEndingNs - 1));
  EXPECT_FALSE(threads.MayBeGone(20, 100, kEnd + ThreadTable::kMaxEndingNs));
}

TEST(ThreadTableTest, WhatAThreadReportedItselfStaysWhenItIsListed) {
  ThreadTable table;
  Access threads(table);
  ThreadEntry& started = threads.Start(Platform(20, 100));
  EXPECT_EQ(threads.Adopt({.java_tid = 20}), &started);
  EXPECT_EQ(started.identity.os_tid, 100);
  EXPECT_EQ(started.identity.java_thread, uintptr_t{20} << 12);
}

// Its name and number are needed until what was recorded of it is written.
TEST(ThreadTableTest, AnEndedThreadIsForgottenTwoChunksAfterItsRelease) {
  ThreadTable table;
  {
    Access threads(table);
    ThreadEntry& thread = threads.Start(Platform(20, 100));
    thread.number = 7;
    thread.name = "worker";
    threads.End(100);
  }
  // It stands still between the two steps of its end, however long.
  for (int chunk = 0; chunk < 3; ++chunk) EXPECT_TRUE(ForgottenBy(table).empty());
  EXPECT_EQ(Access(table).OfJava(20)->name, "worker");
  Access(table).Release(20);
  EXPECT_TRUE(ForgottenBy(table).empty());
  EXPECT_EQ(Access(table).OfJava(20)->name, "worker");
  EXPECT_EQ(ForgottenBy(table), std::vector<uint32_t>{7});
  EXPECT_EQ(Access(table).OfJava(20), nullptr);
}

TEST(ThreadTableTest, AVirtualThreadWithoutNameAndNumberTakesNoMemoryAfterItsEnd) {
  ThreadTable table;
  Access threads(table);
  threads.Release(50);
  threads.Virtual(50);
  threads.Release(50);
  EXPECT_EQ(threads.OfJava(50), nullptr);
}

TEST(ThreadTableTest, AThreadThatIsCountedKeepsItsEntryWithoutANumber) {
  ThreadTable table;
  signal_safe::MetricCounts block = {};
  {
    Access threads(table);
    ThreadEntry& thread = threads.Virtual(50);
    thread.number = 7;
    thread.counters = &block;
    threads.ReleaseLater(50);
  }
  EXPECT_TRUE(ForgottenBy(table).empty());
  EXPECT_EQ(ForgottenBy(table), std::vector<uint32_t>{7});
  ASSERT_NE(Access(table).OfJava(50), nullptr);
  EXPECT_EQ(Access(table).OfJava(50)->number, 0u);
  EXPECT_EQ(Access(table).OfJava(50)->counters, &block);
}

TEST(ThreadTableTest, ANewTraceKnowsRunningThreadsWithoutNumbers) {
  ThreadTable table;
  Access threads(table);
  threads.Start(Platform(20, 100)).number = 1;
  threads.Start(Platform(21, 101)).number = 2;
  threads.Virtual(50).number = 3;
  threads.Native(102).number = 4;
  threads.End(101);
  threads.Release(21);
  threads.ClearNumbers();
  ASSERT_NE(threads.OfJava(20), nullptr);
  EXPECT_EQ(threads.OfJava(20)->number, 0u);
  EXPECT_EQ(threads.OfJava(21), nullptr);
  EXPECT_EQ(threads.OfJava(50), nullptr);
  EXPECT_EQ(threads.NativeOn(102), nullptr);
}

TEST(ThreadTableTest, RunningThreadsAreListedByNumber) {
  ThreadTable table;
  Access threads(table);
  threads.Start(Platform(20, 100)).number = 2;
  threads.Start(Platform(21, 101)).number = 1;
  threads.Start(Platform(22, 102));
  threads.Start(Platform(23, 103)).number = 3;
  threads.End(103);
  threads.Virtual(50).number = 4;
  const std::vector<ThreadEntry> numbered = threads.Numbered();
  ASSERT_EQ(numbered.size(), 2u);
  EXPECT_EQ(numbered[0].identity.java_tid, 21u);
  EXPECT_EQ(numbered[1].identity.java_tid, 20u);
}

TEST(ThreadTableTest, EndsAreTakenOnce) {
  ThreadTable table;
  Access threads(table);
  threads.Start(Platform(20, 100));
  threads.End(100);
  threads.End(100);
  threads.End(101);
  EXPECT_EQ(threads.DrainEndedTids(), (std::vector<pid_t>{100, 101}));
  EXPECT_TRUE(threads.DrainEndedTids().empty());
}

}  // namespace
}  // namespace jtrace::jvm
