// Probes inside methods: around calls that leave the scope, at exceptions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/calls/classfile/probe_point.h"
#include "common/classfile/opcodes.h"
#include "native-tests/support/class_builder.h"
#include "native-tests/support/rewritten_class.h"

namespace jtrace::classfile {
namespace {

using test::BytesOf;
using test::ByteVector;
using test::ClassBuilder;
using test::High;
using test::Low;
using test::TestMethod;
using ::testing::ElementsAre;

constexpr uint32_t kMethodId = 7;
constexpr uint32_t kFirstSiteId = 20;

class RecordingIds : public ProbeTargets {
 public:
  uint32_t IdOf(const ProbeTarget& site) override {
    asked.push_back(std::string(site.class_name) + "." + std::string(site.name) +
                    std::string(site.descriptor));
    kinds.push_back(site.kind);
    return first_id + static_cast<uint32_t>(asked.size() - 1);
  }
  bool IsNative(const ProbeTarget& callee) override { return callee.name == "known"; }
  bool IsWanted(const ProbeTarget& callee) override { return callee.name != "unwanted"; }
  CallProbe ProbeOf(const ProbeTarget& callee) override {
    return callee.name == "sleep" ? CallProbe::kTimed : ProbeOfLastArgument(callee.descriptor);
  }

  uint32_t first_id = kFirstSiteId;
  std::vector<std::string> asked;
  std::vector<ProbePointKind> kinds;
};

struct Rewritten : test::RewrittenClass {
  RecordingIds ids;

  uint32_t LeftOut(CallReason reason) const {
    return result.probes.calls_left_out[static_cast<size_t>(reason)];
  }
};

ProbeSpec PointSpec() {
  ProbeSpec spec = ProbeSpec::Tree();
  spec.boundary = spec.thrown = spec.caught = true;
  return spec;
}

void Apply(const ByteVector& bytes, Rewritten& out, const ProbeSpec& spec = PointSpec()) {
  out.TakeApart(
      RewriteClass(bytes, {.filter = ScopeFilter(),
                           .spec = spec,
                           .assign_id = [](const MethodDeclaration&) { return kMethodId; },
                           .targets = &out.ids}));
}

ByteVector Invoke(uint8_t opcode, uint16_t method) { return BytesOf().U1(opcode).U2(method); }

ByteVector CallOf(ClassBuilder& builder, const std::string& owner, const std::string& name = "f") {
  return Invoke(kOpInvokestatic, builder.Method(owner, name, "()V"));
}

ByteVector Join(std::initializer_list<ByteVector> parts) {
  BytesOf all;
  for (const ByteVector& part : parts) all.Add(part);
  return all;
}

// A probe is before each, and takes nothing from the stack.
TEST(ProbePointFinderTest, AllocationsAreCountedBeforeTheyAreMade) {
  ClassBuilder builder;
  const uint16_t type = builder.Class("java/lang/Object");
  constexpr uint8_t kIconst1 = 4, kPop = 87, kBytes = 8, kTwoDimensions = 2;
  BytesOf code;
  code.U1(kOpNew).U2(type).U1(kPop);
  code.U1(kIconst1).U1(kOpNewarray).U1(kBytes).U1(kPop);
  code.U1(kIconst1).U1(kOpAnewarray).U2(type).U1(kPop);
  code.U1(kIconst1).U1(kIconst1).U1(kOpMultianewarray).U2(type).U1(kTwoDimensions).U1(kPop);
  code.U1(kOpReturn);
  ProbeSpec spec = ProbeSpec::Tree();
  spec.allocations = true;
  Rewritten r;
  ASSERT_NO_FATAL_FAILURE(Apply(builder.Add({.code = code, .max_stack = 2}).Build(), r, spec));
  const uint16_t probe = r.Probe("allocation");
  int probes = 0;
  for (size_t at = 0; at < r.code.code.size(); at += InstructionLength(r.code.code, at)) {
    if (!IsAllocation(r.code.code[at])) continue;
    ++probes;
    EXPECT_THAT(r.Slice(at - 3, 3), ElementsAre(kOpInvokestatic, High(probe), Low(probe)));
  }
  EXPECT_EQ(probes, 4);
}

TEST(ProbePointFinderTest, ProbesOfALeavingCallByteForByte) {
  ClassBuilder builder;
  const ByteVector call = CallOf(builder, "java/util/Arrays");
  Rewritten r;
  ASSERT_NO_FATAL_FAILURE(
      Apply(builder.Add({.code = Join({call, {kOpReturn}}), .max_stack = 0}).Build(), r));
  const uint16_t enter = r.Probe("enter");
  const uint16_t exit = r.Probe("exit");
  // After the entry probe; the method's token is in 0, the call's in 2.
  EXPECT_THAT(r.Slice(7, 14),
              ElementsAre(kOpSipush, 0, kFirstSiteId, kOpInvokestatic, High(enter), Low(enter),
                          65,                                          // lstore_2
                          call[0], call[1], call[2],                   //
                          32, kOpInvokestatic, High(exit), Low(exit))  // lload_2
  );
  EXPECT_EQ(r.code.code[21], 30);  // the exit probe: lload_0
  EXPECT_EQ(r.code.max_locals, 4);
  EXPECT_THAT(r.ids.asked, ElementsAre("java/util/Arrays.f()V"));
  EXPECT_EQ(r.result.probes.calls, 1u);
}

ProbeSpec CostSpec() {
  ProbeSpec spec = PointSpec();
  spec.timed_calls = spec.elements = true;
  return spec;
}

TEST(ProbePointFinderTest, TimedCallsHaveTheirOwnProbe) {
  ClassBuilder builder;
  const ByteVector code = Join({CallOf(builder, "java/lang/Thread", "sleep"),
                                CallOf(builder, "java/util/Arrays"),
                                {kOpReturn}});
  builder.Add({.code = code, .max_stack = 0});
  Rewritten r;
  ASSERT_NO_FATAL_FAILURE(Apply(builder.Build(), r, CostSpec()));
  const uint16_t timed = r.Probe("enterTimed");
  const uint16_t enter = r.Probe("enter");
  EXPECT_THAT(r.Slice(7, 7), ElementsAre(kOpSipush, 0, kFirstSiteId, kOpInvokestatic, High(timed),
                                         Low(timed), 65));
  EXPECT_THAT(r.Slice(21, 7), ElementsAre(kOpSipush, 0, kFirstSiteId + 1, kOpInvokestatic,
                                          High(enter), Low(enter), 65));
}

// A copy of the last argument, then the id.
TEST(ProbePointFinderTest, ElementsAreTheLastArgument) {
  ClassBuilder builder;
  constexpr uint8_t kIconst1 = 4, kAconstNull = 1;
  BytesOf code;
  code.U1(kIconst1).Add(
      Invoke(kOpInvokestatic, builder.Method("java/util/Arrays", "number", "(I)V")));
  code.U1(kAconstNull)
      .Add(Invoke(kOpInvokestatic, builder.Method("java/util/Arrays", "length", "([J)V")));
  code.U1(kOpReturn);
  builder.Add({.code = code, .max_stack = 1});
  Rewritten r;
  ASSERT_NO_FATAL_FAILURE(Apply(builder.Build(), r, CostSpec()));
  const ByteVector first = r.Slice(7, 9);
  EXPECT_EQ(first[0], kIconst1);
  EXPECT_THAT(ByteVector(first.begin() + 1, first.begin() + 6),
              ElementsAre(kOpDup, kOpSipush, 0, kFirstSiteId, kOpInvokestatic));
  EXPECT_THAT(r.Slice(24, 5), ElementsAre(kOpDup, kOpSipush, 0, kFirstSiteId + 1, kOpInvokestatic));
  EXPECT_EQ(r.code.max_stack, 3);  // argument, copy, id
}

TEST(ProbePointFinderTest, OnlySomeLastArgumentsHaveElements) {
  EXPECT_EQ(ProbeOfLastArgument("(Ljava/lang/Object;I)V"), CallProbe::kElements);
  EXPECT_EQ(ProbeOfLastArgument("(I[[Ljava/lang/Object;)V"), CallProbe::kElementsOf);
  EXPECT_EQ(ProbeOfLastArgument("([B)V"), CallProbe::kElementsOf);
  EXPECT_EQ(ProbeOfLastArgument("(ILjava/lang/String;)V"), CallProbe::kElementsOf);
  for (const char* none :
       {"()V", "(J)V", "([BJ)V", "(Ljava/lang/Object;)V", "(IB)V", "", "(", "I"}) {
    EXPECT_EQ(ProbeOfLastArgument(none), CallProbe::kUsual) << none;
  }
}

// In a class out of scope: the stream goes with the id, only wanted natives have probes.
TEST(ProbePointFinderTest, ReadsPassTheirStream) {
  ClassBuilder builder;
  const ByteVector code =
      Join({CallOf(builder, "T", "read0"), CallOf(builder, "T", "unwanted"), {kOpReturn}});
  builder.Add({.code = code, .max_stack = 0}).Add({.name = "read0", .access = 0x0109});
  builder.Add({.name = "unwanted", .access = 0x0109});
  ProbeSpec spec = ProbeSpec::Tree();
  spec.methods = false;
  spec.boundary = true;
  spec.enter = "enterInput";
  spec.exit = "exitInput";
  spec.passed_local = 1;
  Rewritten r;
  ASSERT_NO_FATAL_FAILURE(Apply(builder.Build(), r, spec));
  constexpr uint8_t kAload1 = 43;
  EXPECT_THAT(r.ids.asked, ElementsAre("T.read0()V"));
  EXPECT_THAT(r.Slice(0, 5), ElementsAre(kOpSipush, 0, kFirstSiteId, kAload1, kOpInvokestatic));
}

TEST(ProbePointFinderTest, CallsInsideTheScopeStayAsTheyAre) {
  ClassBuilder builder;
  const ByteVector code = Join({CallOf(builder, "com/acme/A"), CallOf(builder, "T"), {kOpReturn}});
  Rewritten r;
  builder.Add({.code = code}).Add({.name = "f", .code = {kOpReturn}});
  ASSERT_NO_FATAL_FAILURE(Apply(builder.Build(), r));
  EXPECT_TRUE(r.ids.asked.empty());
  EXPECT_EQ(r.code.max_locals, 2);
}

TEST(ProbePointFinderTest, NativeMethodsInScope) {
  ClassBuilder builder;
  const ByteVector code = Join({CallOf(builder, "T", "own"),
                                CallOf(builder, "U", "known"),
                                CallOf(builder, "U", "other"),
                                {kOpReturn}});
  builder.Add({.code = code}).Add({.name = "own", .access = 0x0109});
  Rewritten r;
  ASSERT_NO_FATAL_FAILURE(Apply(builder.Build(), r));
  EXPECT_THAT(r.ids.asked, ElementsAre("T.own()V", "U.known()V"));
  EXPECT_THAT(r.ids.kinds, ElementsAre(ProbePointKind::kNative, ProbePointKind::kNative));
}

TEST(ProbePointFinderTest, OneIdForEachCalleeOfAClass) {
  ClassBuilder builder;
  const ByteVector call = CallOf(builder, "java/util/Arrays");
  const ByteVector code = Join({call, call, {kOpReturn}});
  Rewritten r;
  r.ids.first_id = 100'000;
  ASSERT_NO_FATAL_FAILURE(Apply(builder.Add({.code = code}).Build(), r));
  EXPECT_EQ(r.ids.asked.size(), 1u);
  EXPECT_EQ(r.result.probes.calls, 2u);
  EXPECT_EQ(r.code.code[7], kOpLdcW);
  EXPECT_EQ(r.Slice(7, 3), r.Slice(7 + 14, 3));
}

TEST(ProbePointFinderTest, CountsTheCallsItLeavesOut) {
  ClassBuilder builder;
  const uint16_t dynamic = builder.Method("X", "x", "()V");
  const ByteVector indy = BytesOf().U1(kOpInvokedynamic).U2(dynamic).U2(0);
  const ByteVector code = Join({indy,
                                CallOf(builder, "java/lang/Object", "<init>"),
                                CallOf(builder, "java/lang/invoke/JTraceProbe"),
                                CallOf(builder, "java/util/Map", "unwanted"),
                                {kOpReturn}});
  Rewritten r;
  ASSERT_NO_FATAL_FAILURE(Apply(builder.Add({.code = code}).Build(), r));
  EXPECT_TRUE(r.ids.asked.empty());
  EXPECT_EQ(r.LeftOut(CallReason::kDynamic), 1u);
  EXPECT_EQ(r.LeftOut(CallReason::kObjectConstructor), 1u);
  EXPECT_EQ(r.LeftOut(CallReason::kProbe), 1u);
  EXPECT_EQ(r.LeftOut(CallReason::kNotWanted), 1u);
}

TEST(ProbePointFinderTest, ArraysHaveTheMethodsOfObject) {
  ClassBuilder builder;
  const ByteVector code = Join({CallOf(builder, "[I", "clone"), {kOpReturn}});
  Rewritten r;
  ASSERT_NO_FATAL_FAILURE(Apply(builder.Add({.code = code}).Build(), r));
  EXPECT_THAT(r.ids.asked, ElementsAre("java/lang/Object.clone()V"));
}

// T, a class in scope whose superclass is Object, calls its own method and an inherited one.
TEST(ProbePointFinderTest, MethodsInheritedFromOutsideTheScopeAreOutside) {
  ClassBuilder builder;
  const ByteVector code =
      Join({CallOf(builder, "T", "own"), CallOf(builder, "T", "getClass"), {kOpReturn}});
  builder.Add({.code = code}).Add({.name = "own", .code = {kOpReturn}});
  Rewritten r;
  ASSERT_NO_FATAL_FAILURE(Apply(builder.Build(), r));
  EXPECT_THAT(r.ids.asked, ElementsAre("java/lang/Object.getClass()V"));
}

// if (x) call(); return: the jump bypasses the probe after the call.
TEST(ProbePointFinderTest, JumpsBypassTheProbeAfterACall) {
  ClassBuilder builder;
  const ByteVector code = Join({{26, kOpIfeq, 0, 6}, CallOf(builder, "java/util/A"), {kOpReturn}});
  Rewritten r;
  ASSERT_NO_FATAL_FAILURE(Apply(builder
                                    .Add({.descriptor = "(I)V",
                                          .code = code,
                                          .max_locals = 1,
                                          .attributes = {{"StackMapTable", BytesOf().U2(1).U1(7)}}})
                                    .Build(),
                                r));
  ASSERT_EQ(r.code.code[8], kOpIfeq);
  const uint32_t target = 8 + LoadU2(r.code.code.data() + 9);
  EXPECT_EQ(r.code.code[target], 31);      // lload_1: the exit probe
  EXPECT_EQ(r.code.code[target - 4], 33);  // lload_3: after the call
}

// A handler whose range ends after the call covers the probe there; its own begins with resume.
TEST(ProbePointFinderTest, ExceptionsFromACallReachTheResume) {
  ClassBuilder builder;
  const uint16_t type = builder.Class("java/io/IOException");
  const ByteVector code = Join({CallOf(builder, "java/util/A"), {kOpReturn, 87, kOpReturn}});
  Rewritten r;
  ProbeSpec spec = PointSpec();
  spec.thrown = spec.caught = false;
  ASSERT_NO_FATAL_FAILURE(
      Apply(builder.Add({.code = code, .exceptions = {{0, 3, 4, type}}}).Build(), r, spec));
  ASSERT_EQ(r.code.exceptions.size(), 2u);
  EXPECT_EQ(r.code.exceptions[0].start, 7);
  EXPECT_EQ(r.code.exceptions[0].end, 7 + 14);
  const uint16_t resume = r.Probe("resume");
  EXPECT_THAT(
      r.Slice(r.code.exceptions[0].handler, 8),
      ElementsAre(30, kOpSipush, 0, kMethodId, kOpInvokestatic, High(resume), Low(resume), 87));
}

TEST(ProbePointFinderTest, ExceptionsThrownAndCaught) {
  ClassBuilder builder;
  const uint16_t io = builder.Class("java/io/IOException");
  const uint16_t init = builder.Method("com/acme/Bad", "<init>", "()V");
  const uint16_t make = builder.Method("com/acme/F", "make", "()Lcom/acme/Worse;");
  const ByteVector code = Join({Invoke(kOpInvokespecial, init),
                                {kOpAthrow},
                                Invoke(kOpInvokestatic, make),
                                {kOpAthrow},
                                {kOpNop, kOpAthrow},
                                {87, kOpReturn}});
  Rewritten r;
  ASSERT_NO_FATAL_FAILURE(
      Apply(ClassBuilder(builder).Add({.code = code, .exceptions = {{0, 4, 10, io}}}).Build(), r));
  EXPECT_THAT(r.ids.asked, ElementsAre("com/acme/Bad.", "com/acme/Worse.", "java/lang/Throwable.",
                                       "java/io/IOException."));
  EXPECT_EQ(r.result.probes.exceptions, 4u);
  const uint16_t leaf = r.Probe("leaf");
  // At the handler: resume, then leaf, then the handler's own code.
  EXPECT_THAT(
      r.Slice(r.code.exceptions[0].handler + 7, 7),
      ElementsAre(kOpSipush, 0, kFirstSiteId + 3, kOpInvokestatic, High(leaf), Low(leaf), 87));
}

// javac's code for finally: the handler for anything stores what it caught and throws it again.
TEST(ProbePointFinderTest, RethrowsOfFinallyAreNotThrown) {
  ClassBuilder builder;
  const ByteVector code = {kOpNop, kOpReturn, 75 /*astore_0*/, 42 /*aload_0*/, kOpAthrow};
  Rewritten r;
  ASSERT_NO_FATAL_FAILURE(
      Apply(builder.Add({.code = code, .max_locals = 1, .exceptions = {{0, 1, 2, 0}}}).Build(), r));
  EXPECT_TRUE(r.ids.asked.empty());
}

// super(…) in a block whose handler sees `this` uninitialised.
TEST(ProbePointFinderTest, AGuardedSuperCallHasNoProbes) {
  ClassBuilder builder;
  const uint16_t init = builder.Method("java/lang/Object", "<init>", "()V");
  const ByteVector code = Join({{42}, Invoke(kOpInvokespecial, init), {kOpReturn, 87, kOpReturn}});
  Rewritten r;
  ASSERT_NO_FATAL_FAILURE(Apply(builder
                                    .Add({.name = "<init>",
                                          .access = 1,
                                          .code = code,
                                          .max_locals = 1,
                                          .exceptions = {{0, 4, 5, 0}}})
                                    .Build(),
                                r));
  EXPECT_EQ(r.LeftOut(CallReason::kGuardedConstructor), 1u);
}

TEST(ProbePointFinderTest, NoRoomMeansNoSitesAndIsCounted) {
  ClassBuilder builder;
  BytesOf code;
  for (int i = 0; i < 600; ++i) code.Add(CallOf(builder, "java/util/A"));
  const ByteVector body = Join({code, {kOpReturn}});  // with probes it would be over 8,000 bytes
  Rewritten r;
  ASSERT_NO_FATAL_FAILURE(Apply(builder.Add({.code = body}).Build(), r));
  EXPECT_EQ(r.result.methods[0].reason, Reason::kPointsLeftOut);
  EXPECT_TRUE(r.result.methods[0].probed);
  EXPECT_TRUE(r.ids.asked.empty());
  EXPECT_EQ(r.LeftOut(CallReason::kNoRoom), 600u);
  EXPECT_EQ(r.result.probes.calls, 0u);
  EXPECT_EQ(r.code.max_locals, 2);
}

TEST(ProbePointFinderTest, FlatProbesOnlyCountCalls) {
  ClassBuilder builder;
  const ByteVector call = CallOf(builder, "java/util/A");
  Rewritten r;
  ProbeSpec spec = ProbeSpec::Flat();
  spec.boundary = true;
  ASSERT_NO_FATAL_FAILURE(Apply(builder.Add({.code = Join({call, {kOpReturn}})}).Build(), r, spec));
  const uint16_t count = r.Probe("count");
  EXPECT_THAT(r.Slice(6, 10), ElementsAre(kOpSipush, 0, kFirstSiteId, kOpInvokestatic, High(count),
                                          Low(count), call[0], call[1], call[2], kOpReturn));
}

TEST(ProbePointFinderTest, NoSitesUnlessRequested) {
  ClassBuilder builder;
  Rewritten r;
  ASSERT_NO_FATAL_FAILURE(
      Apply(builder.Add({.code = Join({CallOf(builder, "java/util/A"), {kOpReturn}})}).Build(), r,
            ProbeSpec::Tree()));
  EXPECT_TRUE(r.ids.asked.empty());
  EXPECT_EQ(r.code.max_locals, 2);
}

}  // namespace
}  // namespace jtrace::classfile
