#include "agent/calls/classfile/class_rewriter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/calls/classfile/probe_bytecode.h"
#include "common/classfile/opcodes.h"
#include "native-tests/agent/calls/classfile/instrumented_method.h"
#include "native-tests/support/class_builder.h"

namespace jtrace::classfile {
namespace {

using test::Apply;
using test::BytesOf;
using test::ByteVector;
using test::ClassBuilder;
using test::ClassWith;
using test::High;
using test::kId;
using test::Low;
using test::Rewritten;
using test::TestMethod;
using ::testing::ElementsAre;

TEST(InstrumenterTest, EmptyMethodByteForByte) {
  Rewritten r;
  ASSERT_NO_FATAL_FAILURE(Apply(ClassWith({.code = {kOpReturn}, .max_stack = 0}), r));
  const uint16_t enter = r.Probe("enter");
  const uint16_t exit = r.Probe("exit");
  const uint16_t thrown = r.Probe("exitThrown");
  EXPECT_THAT(r.Code(), ElementsAre(kOpSipush, 0, kId, kOpInvokestatic, High(enter), Low(enter),
                                    63,                                          // lstore_0
                                    30, kOpInvokestatic, High(exit), Low(exit),  // lload_0
                                    kOpReturn,                                   //
                                    30, kOpInvokestatic, High(thrown), Low(thrown), kOpAthrow));
  EXPECT_EQ(r.code.max_locals, 2);
  EXPECT_EQ(r.code.max_stack, 3);
  ASSERT_EQ(r.code.exceptions.size(), 1u);
  EXPECT_EQ(r.code.exceptions[0].start, 7);
  EXPECT_EQ(r.code.exceptions[0].end, 12);
  EXPECT_EQ(r.code.exceptions[0].handler, 12);
  EXPECT_EQ(r.code.exceptions[0].catch_type, 0);
  const uint16_t throwable = r.file.pool.FindClass("java/lang/Throwable");
  EXPECT_EQ(r.Table("StackMapTable"),
            ByteVector(BytesOf().U2(1).U1(255).U2(12).U2(1).U1(4).U2(1).U1(7).U2(throwable)));
  EXPECT_EQ(r.outcome().id, kId);
  EXPECT_TRUE(r.outcome().probed);
}

// Neither what a compiler writes, nor the program's own athrow.
TEST(InstrumenterTest, TaggedRethrowsAreKnown) {
  ProbeSpec spec = ProbeSpec::Tree();
  spec.tags_rethrows = true;
  Rewritten r;
  ASSERT_NO_FATAL_FAILURE(
      Apply(ClassWith({.code = {1 /*aconst_null*/, kOpAthrow}, .max_stack = 1}), r, spec));
  const ByteVector code = r.Code();
  std::vector<size_t> own, others;
  for (size_t at = 0; at < code.size(); ++at) {
    if (code[at] == kOpAthrow) (IsProbeRethrow(code, at) ? own : others).push_back(at);
  }
  EXPECT_THAT(own, ElementsAre(code.size() - 1));
  EXPECT_EQ(others.size(), 1u);
  EXPECT_FALSE(IsProbeRethrow(code, code.size()));
  EXPECT_FALSE(IsProbeRethrow(code, 0));
}

TEST(InstrumenterTest, FlatProbeOnlyCounts) {
  Rewritten r;
  ASSERT_NO_FATAL_FAILURE(Apply(ClassWith({.code = {kOpReturn}}), r, ProbeSpec::Flat()));
  const uint16_t count = r.Probe("count");
  EXPECT_THAT(r.Code(),
              ElementsAre(kOpSipush, 0, kId, kOpInvokestatic, High(count), Low(count), kOpReturn));
  EXPECT_EQ(r.code.max_locals, 0);
  EXPECT_TRUE(r.code.exceptions.empty());
  EXPECT_TRUE(r.Table("StackMapTable").empty());
}

TEST(InstrumenterTest, AMethodThatCallsNothingIsOnlyCounted) {
  Rewritten r;
  ASSERT_NO_FATAL_FAILURE(Apply(ClassWith({.code = {kOpReturn}}), r, ProbeSpec::TreeWithLeaves()));
  const uint16_t leaf = r.Probe("leaf");
  EXPECT_THAT(r.Code(),
              ElementsAre(kOpSipush, 0, kId, kOpInvokestatic, High(leaf), Low(leaf), kOpReturn));
  EXPECT_EQ(r.code.max_locals, 0);
  EXPECT_TRUE(r.code.exceptions.empty());
  EXPECT_TRUE(r.outcome().is_leaf);
}

TEST(InstrumenterTest, AMethodThatCallsGetsEntryAndExitBesideLeaves) {
  ClassBuilder builder;
  const uint16_t callee = builder.Method("T", "n", "()V");
  builder.Add({.code = {kOpInvokestatic, High(callee), Low(callee), kOpReturn}});
  Rewritten r;
  ASSERT_NO_FATAL_FAILURE(Apply(builder.Build(), r, ProbeSpec::TreeWithLeaves()));
  EXPECT_FALSE(r.outcome().is_leaf);
  EXPECT_EQ(r.code.exceptions.size(), 1u);
}

TEST(InstrumenterTest, LargeIdsComeFromThePool) {
  Rewritten r;
  ASSERT_NO_FATAL_FAILURE(
      Apply(ClassWith({.code = {kOpReturn}}), r, ProbeSpec::Tree(), 0x12345678));
  ASSERT_EQ(r.Code()[0], kOpLdcW);
  EXPECT_EQ(LoadU2(r.Code().data() + 1), r.file.pool.count() - 1);
  const Bytes entries = r.file.pool.entries();
  EXPECT_EQ(LoadU4(entries.data() + entries.size() - 4), 0x12345678u);
}

TEST(InstrumenterTest, ATokenBeyondSlot255IsWide) {
  Rewritten r;
  ASSERT_NO_FATAL_FAILURE(Apply(ClassWith({.code = {kOpReturn}, .max_locals = 300}), r));
  EXPECT_THAT(r.Slice(6, 4), ElementsAre(kOpWide, kOpLstore, 1, 44));
}

TEST(InstrumenterTest, VersionsWithoutStackMapsGetNone) {
  Rewritten r;
  ASSERT_NO_FATAL_FAILURE(Apply(ClassWith({.code = {kOpReturn}}, 49), r));
  EXPECT_TRUE(r.Table("StackMapTable").empty());
  EXPECT_EQ(r.code.exceptions.size(), 1u);
}

// for (;;) { if (x) return; }: jumps to the first instruction land after the entry probe, jumps to
// a return before its exit probe.
TEST(InstrumenterTest, JumpsAroundProbes) {
  const ByteVector code = {26, kOpIfeq, 0, 6, kOpGoto, 0xff, 0xfc, kOpReturn};
  Rewritten r;
  ASSERT_NO_FATAL_FAILURE(
      Apply(ClassWith({.descriptor = "(I)V",
                       .code = code,
                       .max_locals = 1,
                       .attributes = {{"StackMapTable", BytesOf().U2(2).U1(0).U1(6)}}}),
            r));
  const ByteVector out = r.Code();
  EXPECT_EQ(out[8], kOpIfeq);
  EXPECT_EQ(LoadU2(out.data() + 9), 6);
  EXPECT_EQ(out[11], kOpGoto);
  EXPECT_EQ(static_cast<int16_t>(LoadU2(out.data() + 12)), -4);
  EXPECT_EQ(out[14], 31);  // lload_1 of the exit probe
  const uint16_t throwable = r.file.pool.FindClass("java/lang/Throwable");
  // append_frame for the first (no padding, one token), same_frame for the second.
  EXPECT_EQ(
      r.Table("StackMapTable"),
      ByteVector(
          BytesOf().U2(3).U1(252).U2(7).U1(4).U1(6).U1(255).U2(4).U2(2).U1(0).U1(4).U2(1).U1(7).U2(
              throwable)));
}

TEST(InstrumenterTest, SwitchesAreRealigned) {
  for (uint8_t nops = 0; nops < 4; ++nops) {
    SCOPED_TRACE(int{nops});
    BytesOf code;
    for (uint8_t i = 0; i < nops; ++i) code.U1(kOpNop);
    const uint32_t at = nops + 1;
    code.U1(26).U1(kOpTableswitch);
    for (size_t i = SwitchPadding(at); i > 0; --i) code.U1(0);
    const auto end = static_cast<uint32_t>(at + 1 + SwitchPadding(at) + 12 + 8);
    code.U4(end - at).U4(0).U4(1).U4(end - at).U4(end + 1 - at).U1(kOpNop).U1(kOpReturn);
    Rewritten r;
    ASSERT_NO_FATAL_FAILURE(
        Apply(ClassWith({.descriptor = "(I)V", .code = code, .max_locals = 1}, 49), r));
    const uint32_t moved = at + 7;
    ASSERT_EQ(r.code.code[moved], kOpTableswitch);
    const SwitchTable table = ParseSwitch(r.code.code, moved);
    ASSERT_EQ(table.count, 2u);
    const auto target = [&](size_t i) {
      return moved + LoadU4(r.code.code.data() + table.first + 4 * i);
    };
    EXPECT_EQ(r.code.code[target(0)], kOpNop);
    EXPECT_EQ(target(1), target(0) + 1);
    EXPECT_EQ(r.code.code[target(1) + 4], kOpReturn);
  }
}

TEST(InstrumenterTest, HandlersResume) {
  // try { nop } catch (any) { pop } return
  Rewritten r;
  ASSERT_NO_FATAL_FAILURE(Apply(ClassWith({.code = {kOpNop, kOpReturn, 87, kOpReturn},
                                           .max_stack = 1,
                                           .exceptions = {{0, 1, 2, 0}}},
                                          49),
                                r));
  const uint16_t resume = r.Probe("resume");
  ASSERT_EQ(r.code.exceptions.size(), 2u);
  const uint16_t handler = r.code.exceptions[0].handler;
  EXPECT_EQ(r.code.exceptions[0].start, 7);
  EXPECT_EQ(r.code.exceptions[0].end, 8);
  EXPECT_THAT(r.Slice(handler, 8),
              ElementsAre(30, kOpSipush, 0, kId, kOpInvokestatic, High(resume), Low(resume), 87));
  EXPECT_GE(r.code.max_stack, 1 + 3);
}

// A handler that covers itself gets its probe after the part it covers.
TEST(InstrumenterTest, SelfCoveringHandlersResumeLater) {
  const ByteVector code = {kOpNop, kOpReturn, 75 /*astore_0*/, 42 /*aload_0*/, kOpAthrow};
  Rewritten r;
  ASSERT_NO_FATAL_FAILURE(Apply(
      ClassWith({.code = code, .max_locals = 1, .exceptions = {{0, 1, 2, 0}, {2, 3, 2, 0}}}, 49),
      r));
  const ExceptionRow self = r.code.exceptions[1];
  EXPECT_EQ(self.handler, self.start);
  EXPECT_EQ(self.end, self.start + 1);
  EXPECT_EQ(r.code.code[self.start], 75);
  EXPECT_EQ(r.code.code[self.start + 1], 31);  // lload_1 of the probe
  EXPECT_EQ(r.code.code[self.start + 8], 42);
}

TestMethod Constructor(ClassBuilder& builder, ByteVector prefix, ByteVector suffix) {
  const uint16_t init = builder.Method("java/lang/Object", "<init>", "()V");
  return {.name = "<init>",
          .access = 1,
          .code = BytesOf().Add(prefix).U1(42).U1(kOpInvokespecial).U2(init).Add(suffix),
          .max_locals = 1};
}

TEST(InstrumenterTest, ConstructorsAreCoveredAfterSuper) {
  ClassBuilder builder;
  Rewritten r;
  ASSERT_NO_FATAL_FAILURE(
      Apply(builder.Add(Constructor(builder, {}, {kOpNop, kOpReturn})).Build(), r));
  ASSERT_EQ(r.code.exceptions.size(), 1u);
  EXPECT_EQ(r.code.exceptions[0].start, 7 + 4);
  EXPECT_EQ(r.outcome().reason, Reason::kNone);
}

TEST(InstrumenterTest, ConstructorsWithAnotherWayInAreCounted) {
  ClassBuilder builder;
  TestMethod method = Constructor(builder, {kOpNop}, {kOpReturn, 87, kOpReturn});
  method.exceptions = {{0, 1, 6, 0}};
  Rewritten r;
  ASSERT_NO_FATAL_FAILURE(Apply(builder.Add(method).Build(), r));
  EXPECT_EQ(r.code.exceptions.size(), 1u);  // its own, no catch-all
  EXPECT_EQ(r.outcome().reason, Reason::kConstructorUncovered);
  EXPECT_TRUE(r.outcome().probed);
}

TEST(InstrumenterTest, TablesMove) {
  Rewritten r;
  ASSERT_NO_FATAL_FAILURE(Apply(
      ClassWith(
          {.descriptor = "(I)V",
           .code = {kOpNop, kOpNop, kOpReturn},
           .max_locals = 1,
           .attributes = {{"LineNumberTable", BytesOf().U2(2).U2(0).U2(5).U2(2).U2(6)},
                          {"LocalVariableTable", BytesOf().U2(1).U2(0).U2(3).U2(9).U2(9).U2(0)}}}),
      r));
  EXPECT_EQ(r.Table("LineNumberTable"), ByteVector(BytesOf().U2(2).U2(0).U2(5).U2(9).U2(6)));
  // From 0 to the end of the body, the exit probe in it.
  EXPECT_EQ(r.Table("LocalVariableTable"),
            ByteVector(BytesOf().U2(1).U2(0).U2(14).U2(9).U2(9).U2(0)));
}

TEST(InstrumenterTest, FarGotosAreWidened) {
  // goto over 32,760 nops, which the exit probes of 10 returns push out of reach
  BytesOf code;
  code.U1(kOpGoto).U2(3 + 32750 + 10);
  code.Add(ByteVector(32750, kOpNop)).Add(ByteVector(10, kOpReturn)).U1(kOpReturn);
  Rewritten r;
  ASSERT_NO_FATAL_FAILURE(Apply(ClassWith({.code = code}, 49), r));
  ASSERT_EQ(r.code.code[7], kOpGotoW);
  const uint32_t target = 7 + LoadU4(r.code.code.data() + 8);
  EXPECT_EQ(target, 7u + 5 + 32750 + 10 * 5);
  EXPECT_EQ(r.code.code[target], 30);
  EXPECT_EQ(r.code.code[target + 4], kOpReturn);
}

}  // namespace
}  // namespace jtrace::classfile
