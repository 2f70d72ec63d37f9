// Probes where monitors are requested and released.
#include "agent/calls/classfile/monitor_points.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "agent/calls/classfile/class_rewriter.h"
#include "common/classfile/opcodes.h"
#include "native-tests/support/class_builder.h"
#include "native-tests/support/rewritten_class.h"

namespace jtrace::classfile {
namespace {

using test::ByteVector;
using test::ClassBuilder;
using test::High;
using test::Low;
using test::TestMethod;
using ::testing::ElementsAre;

constexpr uint32_t kMethodId = 7;
constexpr uint32_t kEnterId = 20;
constexpr uint32_t kExitId = 21;
constexpr uint8_t kAload0 = 42, kAstore1 = 76, kAload1 = 43;
constexpr uint16_t kStaticSynchronized = 0x0029;

class MonitorIds : public ProbeTargets {
 public:
  uint32_t IdOf(const ProbeTarget& target) override {
    EXPECT_TRUE(IsMonitorPoint(target.kind));
    return target.kind == ProbePointKind::kMonitorEnter ? kEnterId : kExitId;
  }
  bool IsNative(const ProbeTarget&) override { return false; }
};

class MonitorPointsTest : public ::testing::Test {
 protected:
  void Rewrite(const TestMethod& method, ProbeSpec spec = ProbeSpec::Tree()) {
    spec.monitors = true;
    MonitorIds ids;
    rewritten_.TakeApart(
        RewriteClass(ClassBuilder().Add(method).Build(),
                     {.filter = ScopeFilter(),
                      .spec = spec,
                      .assign_id = [](const MethodDeclaration&) { return kMethodId; },
                      .targets = &ids}));
    mark_ = rewritten_.Probe(spec.count_point);
  }
  // The ids of the probes, and the opcodes of monitorenter, monitorexit, returns and athrow, in the
  // order of the code.
  std::vector<uint32_t> Order() {
    std::vector<uint32_t> order;
    const Bytes code = rewritten_.code.code;
    for (size_t at = 0; at < code.size(); at += InstructionLength(code, at)) {
      const uint8_t opcode = code[at];
      if (IsMark(at)) order.push_back(LoadU2(code.data() + at + 1));
      if (opcode == kOpMonitorenter || opcode == kOpMonitorexit || opcode == kOpAthrow ||
          IsReturn(opcode)) {
        order.push_back(opcode);
      }
    }
    return order;
  }
  bool IsMark(size_t at) {
    const Bytes code = rewritten_.code.code;
    return at + 6 <= code.size() && code[at] == kOpSipush && code[at + 3] == kOpInvokestatic &&
           code[at + 4] == High(mark_) && code[at + 5] == Low(mark_);
  }

  test::RewrittenClass rewritten_;
  uint16_t mark_ = 0;
};

// What javac makes of `synchronized (x) { }`, with the handler that covers itself.
TestMethod Block() {
  return {.descriptor = "(Ljava/lang/Object;)V",
          .code = {kAload0, kOpMonitorenter,            // 0
                   kAload0, kOpMonitorexit, kOpReturn,  // 2
                   kAstore1, kAload0, kOpMonitorexit,   // 5, the handler
                   kAload1, kOpAthrow},                 // 8
          .max_locals = 2,
          .exceptions = {{2, 4, 5, 0}, {5, 8, 5, 0}}};
}

TEST_F(MonitorPointsTest, RequestsAndReleasesAreCountedBeforeTheyHappen) {
  ASSERT_NO_FATAL_FAILURE(Rewrite(Block()));
  EXPECT_THAT(Order(), ElementsAre(kEnterId, kOpMonitorenter, kExitId, kOpMonitorexit, kOpReturn,
                                   kOpMonitorexit, kExitId, kOpAthrow, kOpAthrow));
  EXPECT_EQ(rewritten_.result.probes.monitors, 3u);
}

// A probe that a handler covers itself would be run again forever, if it threw.
TEST_F(MonitorPointsTest, TheHandlersReleaseIsCountedOutsideOfWhatTheHandlerCovers) {
  ASSERT_NO_FATAL_FAILURE(Rewrite(Block()));
  for (const ExceptionRow& row : rewritten_.code.exceptions) {
    if (row.handler < row.start || row.handler >= row.end) continue;
    for (uint32_t at = row.handler; at < row.end;
         at += static_cast<uint32_t>(InstructionLength(rewritten_.code.code, at))) {
      EXPECT_FALSE(IsMark(at)) << at;
    }
  }
}

TEST_F(MonitorPointsTest, SynchronizedMethodsReleaseAtReturnsAndInTheCatchAll) {
  ASSERT_NO_FATAL_FAILURE(Rewrite({.access = kStaticSynchronized, .code = {kOpReturn}}));
  EXPECT_THAT(Order(), ElementsAre(kEnterId, kExitId, kOpReturn, kExitId, kOpAthrow));
  ASSERT_EQ(rewritten_.code.exceptions.size(), 1u);
  EXPECT_TRUE(IsMark(rewritten_.code.exceptions[0].handler));
  EXPECT_EQ(rewritten_.result.probes.monitors, 3u);
}

// Without tokens there is no other reason for a catch-all.
TEST_F(MonitorPointsTest, FlatCountsHaveACatchAllInSynchronizedMethodsOnly) {
  ASSERT_NO_FATAL_FAILURE(
      Rewrite({.access = kStaticSynchronized, .code = {kOpReturn}}, ProbeSpec::Flat()));
  EXPECT_EQ(rewritten_.code.exceptions.size(), 1u);
  EXPECT_EQ(Order().back(), kOpAthrow);
  EXPECT_EQ(Order()[Order().size() - 2], kExitId);
  ASSERT_NO_FATAL_FAILURE(Rewrite(Block(), ProbeSpec::Flat()));
  EXPECT_EQ(rewritten_.code.exceptions.size(), 2u);
}

// It runs once, whatever jumps to the first instruction.
TEST_F(MonitorPointsTest, LoopsToTheEntryRequestNothing) {
  constexpr uint8_t kGoto = 167;
  ASSERT_NO_FATAL_FAILURE(
      Rewrite({.access = kStaticSynchronized, .code = {kOpNop, kGoto, 0xff, 0xff}}));
  const Bytes code = rewritten_.code.code;
  for (size_t at = 0; at < code.size(); at += InstructionLength(code, at)) {
    if (code[at] != kGoto) continue;
    const auto target =
        at + static_cast<size_t>(static_cast<int16_t>(LoadU2(code.data() + at + 1)));
    EXPECT_EQ(code[target], kOpNop);
  }
}

TEST_F(MonitorPointsTest, OtherMethodsHaveNone) {
  ASSERT_NO_FATAL_FAILURE(Rewrite({.code = {kOpReturn}}));
  EXPECT_THAT(Order(), ElementsAre(kOpReturn, kOpAthrow));
  EXPECT_EQ(rewritten_.result.probes.monitors, 0u);
}

}  // namespace
}  // namespace jtrace::classfile
