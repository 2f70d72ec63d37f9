#include "postproc/calltree/jit_log.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace jtrace::postproc {
namespace {

constexpr RoutineId kRun(1), kOrElseGet(2), kLambda(3), kCallBack(4), kOther(5);

class JitLogTest : public ::testing::Test {
 protected:
  void Load(uint64_t address, uint32_t level = 0, uint32_t osr_entry = 0, uint32_t method = 9) {
    CodeRecord code;
    code.routine = kRun;
    code.address = address;
    code.method = method;
    code.level = level;
    code.osr_entry = osr_entry;
    log_.OnCode({}, code);
  }
  // Innermost first, as the JVM has them.
  void Inline(uint64_t address, const std::vector<std::vector<RoutineId>>& stacks) {
    std::vector<std::vector<CodeRecord::Frame>> frames(stacks.size());
    std::vector<CodeRecord::Row> rows;
    for (size_t i = 0; i < stacks.size(); ++i) {
      for (const RoutineId routine : stacks[i]) frames[i].push_back({routine, 0});
      rows.push_back({0, frames[i]});
    }
    CodeRecord code;
    code.op = CodeRecord::Op::kInlining;
    code.routine = kRun;
    code.address = address;
    code.method = 9;
    code.rows = rows;
    log_.OnCode({}, code);
  }
  InliningOfArc Find(RoutineId caller, RoutineId callee, const std::set<RoutineId>& counted) {
    const JitLog::Arcs arcs(log_, [&](RoutineId id) { return counted.contains(id); });
    return arcs.Find(caller, callee);
  }

  JitLog log_;
};

TEST_F(JitLogTest, ArcsSkipMethodsThatAreNotCounted) {
  Load(0x1000);
  Inline(0x1000, {{kOrElseGet, kRun}, {kCallBack, kLambda, kOrElseGet, kRun}, {kOther, kRun}});
  EXPECT_EQ(Find(kRun, kCallBack, {kRun, kCallBack}).inlined, 1);
  EXPECT_EQ(Find(kRun, kCallBack, {kRun, kCallBack}).bodies, 1);
  // If a counted method is in between, the call is that method's.
  const std::set<RoutineId> with_lambda = {kRun, kCallBack, kLambda};
  EXPECT_EQ(Find(kRun, kCallBack, with_lambda).inlined, 0);
  EXPECT_EQ(Find(kLambda, kCallBack, with_lambda).inlined, 1);
  EXPECT_EQ(Find(kRun, kLambda, with_lambda).inlined, 1);
  // Neighbours of different rows are not calls.
  EXPECT_EQ(Find(kOther, kCallBack, {kRun, kOther, kCallBack}).inlined, 0);
  EXPECT_EQ(Find(kRun, kOther, {kRun, kOther, kCallBack}).inlined, 1);
}

TEST_F(JitLogTest, TheBodyIsTheBestCodeOfAnEntry) {
  Load(0x1000, 3);
  Inline(0x1000, {{kOther, kRun}});
  Load(0x2000, 4, /*osr_entry=*/7);
  Inline(0x2000, {{kCallBack, kRun}});
  EXPECT_EQ(Find(kRun, kOther, {kRun, kOther}).inlined, 0);
  EXPECT_EQ(Find(kRun, kCallBack, {kRun, kCallBack}).bodies, 1);
  Load(0x3000, 4);
  EXPECT_EQ(Find(kRun, kCallBack, {kRun, kCallBack}).bodies, 2);
  EXPECT_EQ(Find(kRun, kCallBack, {kRun, kCallBack}).inlined, 1);
}

TEST_F(JitLogTest, BetterCodeIsNotARecompilation) {
  for (const uint32_t level : {2u, 3u, 4u}) Load(0x1000 * level, level);
  Load(0x5000, 3, /*osr_entry=*/12);
  const CompiledRoutine compiled = log_.Compiled(kRun);
  EXPECT_EQ(compiled.loads, 4);
  EXPECT_EQ(compiled.osr, 1);
  EXPECT_EQ(compiled.again, 0);
  EXPECT_EQ(compiled.discarded, 0);
  EXPECT_EQ(compiled.level, 3u);
}

TEST_F(JitLogTest, CodeOfTheSameEntryAndLevelIsARecompilationAndDiscardsTheCodeBefore) {
  Load(0x1000, 4);
  Load(0x2000, 4);
  EXPECT_EQ(log_.Compiled(kRun).again, 1);
  EXPECT_EQ(log_.Compiled(kRun).discarded, 1);
  Load(0x3000, 3);
  EXPECT_EQ(log_.Compiled(kRun).again, 1);
  EXPECT_EQ(log_.Compiled(kRun).discarded, 2);
  Load(0x4000, 4);
  EXPECT_EQ(log_.Compiled(kRun).again, 2);
  EXPECT_EQ(log_.Compiled(kRun).discarded, 2);
  Load(0x5000, 4, /*osr_entry=*/0, /*method=*/10);  // another method of that name
  EXPECT_EQ(log_.Compiled(kRun).again, 2);
}

TEST_F(JitLogTest, CodeThatIsReportedTwiceCountsOnce) {
  Load(0x1000, 4);
  Load(0x1000, 4);
  EXPECT_EQ(log_.Compiled(kRun).loads, 1);
  CodeRecord unload;
  unload.op = CodeRecord::Op::kUnload;
  unload.routine = kRun;
  unload.address = 0x1000;
  unload.method = 9;
  log_.OnCode({}, unload);
  Load(0x1000, 4);
  EXPECT_EQ(log_.Compiled(kRun).loads, 2);
  EXPECT_EQ(log_.Compiled(kRun).again, 1);
}

}  // namespace
}  // namespace jtrace::postproc
