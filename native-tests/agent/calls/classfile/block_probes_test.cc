#include "agent/calls/classfile/block_probes.h"

#include <utility>
#include <vector>

#include "common/classfile/opcodes.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "native-tests/agent/calls/classfile/instrumented_method.h"

namespace jtrace::classfile {
namespace {

using test::BytesOf;
using test::ByteVector;
using test::ClassBuilder;
using test::Rewritten;
using test::TestMethod;
using testing::Contains;
using testing::ElementsAre;

constexpr uint8_t kIconst0 = 3;

class Ids : public CounterIds {
 public:
  explicit Ids(bool entries = false) : entries_(entries) {}
  uint32_t NewIds(uint32_t count) override { return std::exchange(next_, next_ + count); }
  bool NeedsEntryCounters(std::string_view) override { return entries_; }

 private:
  uint32_t next_ = 100;
  const bool entries_;
};

ProbeSpec FlatWithBlocks() {
  ProbeSpec spec = ProbeSpec::Flat();
  spec.block_owner = "java/lang/invoke/JTraceBlocks";
  return spec;
}

void Rewrite(const ByteVector& bytes, Rewritten& out, const ProbeSpec& spec = FlatWithBlocks(),
             bool entries = false) {
  Ids ids(entries);
  out.TakeApart(
      RewriteClass(bytes, {.filter = ScopeFilter(),
                           .spec = spec,
                           .assign_id = [](const MethodDeclaration&) { return test::kId; },
                           .counters = &ids}));
}

uint16_t HitOf(const Rewritten& rewritten) {
  for (uint16_t i = 1; i < rewritten.file.pool.count(); ++i) {
    const auto method = rewritten.file.pool.Method(i);
    if (method && method->name == "hit") return i;
  }
  return 0;
}

// sipush id; invokestatic hit
ByteVector Hit(const Rewritten& rewritten, uint16_t id) {
  return BytesOf().U1(kOpSipush).U2(id).U1(kOpInvokestatic).U2(HitOf(rewritten));
}

// The spanning tree leaves one side of a branch out.
TEST(BlockProbes, OneCounterForABranch) {
  ClassBuilder builder;
  const ByteVector code = {kIconst0, kOpIfeq, 0, 4, kOpNop, kOpReturn};
  Rewritten rewritten;
  Rewrite(builder.Add({.code = code}).Build(), rewritten);
  const std::vector<CounterPosition>& places = rewritten.outcome().counters;
  ASSERT_EQ(places.size(), 1u);
  EXPECT_EQ(rewritten.outcome().first_counter, 100u);
  // iconst_0, the probe of the method before it, ifeq, counter, nop.
  const size_t at = places[0].bci == 4 ? 10 : 11;
  EXPECT_EQ(rewritten.Slice(at, 6), Hit(rewritten, 100));
}

TEST(BlockProbes, CallsAreCountedWhereTheyAreNotKnownOtherwise) {
  ClassBuilder builder;
  Rewritten rewritten;
  Rewrite(builder.Add({.code = {kOpNop, kOpReturn}}).Build(), rewritten, FlatWithBlocks(),
          /*entries=*/true);
  ASSERT_EQ(rewritten.outcome().counters.size(), 1u);
  EXPECT_EQ(rewritten.outcome().counters[0].bci, 0);
  // Also where they follow from other counters: both sides of a branch.
  ClassBuilder branches;
  const ByteVector code = {kIconst0, kOpIfeq, 0, 4, kOpReturn, kOpReturn};
  Rewrite(branches.Add({.code = code}).Build(), rewritten, FlatWithBlocks(), /*entries=*/true);
  EXPECT_THAT(rewritten.outcome().counters, Contains(CounterPosition{CounterKind::kFall, 0}));
}

// Each instruction that may throw has a row of its own before the others, to code that counts it
// and throws it again.
TEST(BlockProbes, ExceptionsAreCountedOnTheirWay) {
  ClassBuilder builder;
  const uint16_t callee = builder.Method("U", "f", "()V");
  const ByteVector call = BytesOf().U1(kOpInvokestatic).U2(callee);
  const ByteVector code = BytesOf().Add(call).Add(call).U1(kOpReturn);
  Rewritten rewritten;
  Rewrite(builder.Add({.code = code}).Build(), rewritten);
  EXPECT_THAT(rewritten.outcome().counters, ElementsAre(CounterPosition{CounterKind::kThrow, 0},
                                                        CounterPosition{CounterKind::kThrow, 3}));
  // Six bytes of the method's probe, then the method's seven.
  ASSERT_EQ(rewritten.code.exceptions.size(), 2u);
  const ExceptionRow& first = rewritten.code.exceptions[0];
  const ExceptionRow& second = rewritten.code.exceptions[1];
  EXPECT_EQ(std::pair(first.start, first.end), std::pair(uint16_t{6}, uint16_t{9}));
  EXPECT_EQ(std::pair(second.start, second.end), std::pair(uint16_t{9}, uint16_t{12}));
  EXPECT_EQ(first.handler, 13);
  EXPECT_EQ(second.handler, 19);
  EXPECT_EQ(first.catch_type, 0);
  EXPECT_EQ(rewritten.Slice(13, 13), ByteVector(BytesOf()
                                                    .U1(kOpSipush)
                                                    .U2(100)
                                                    .U1(kOpGoto)
                                                    .U2(6)
                                                    .U1(kOpSipush)
                                                    .U2(101)
                                                    .U1(kOpInvokestatic)
                                                    .U2(HitOf(rewritten))
                                                    .U1(kOpAthrow)));
  EXPECT_EQ(rewritten.code.max_stack, 3);
}

// The handlers of the original see the exception after it was counted.
TEST(BlockProbes, HandlersCoverTheCodeThatThrowsAgain) {
  ClassBuilder builder("T", /*major=*/49);  // without frames
  const uint16_t callee = builder.Method("U", "f", "()V");
  const uint16_t type = builder.Class("java/lang/Error");
  const ByteVector code =
      BytesOf().U1(kOpInvokestatic).U2(callee).U1(kOpReturn).U1(kOpAstore0).U1(kOpReturn);
  Rewritten rewritten;
  Rewrite(builder.Add({.code = code, .max_locals = 1, .exceptions = {{0, 3, 4, type}}}).Build(),
          rewritten);
  ASSERT_EQ(rewritten.code.exceptions.size(), 3u);
  const ExceptionRow& original = rewritten.code.exceptions[1];
  const ExceptionRow& again = rewritten.code.exceptions[2];
  EXPECT_EQ(again.handler, original.handler);
  EXPECT_EQ(again.catch_type, type);
  EXPECT_EQ(again.start, rewritten.code.exceptions[0].handler);
  EXPECT_EQ(again.end, rewritten.code.code.size());
}

// The catch-all is a handler, to which no code may lead but a throw: C1 would not compile the
// method.
TEST(BlockProbes, NothingFallsIntoTheCatchAll) {
  ClassBuilder builder("T", /*major=*/49);  // without frames
  const uint16_t callee = builder.Method("U", "f", "()V");
  const ByteVector code = BytesOf().U1(kOpInvokestatic).U2(callee).U1(kOpReturn);
  ProbeSpec spec = ProbeSpec::Tree();
  spec.block_owner = "java/lang/invoke/JTraceBlocks";
  Rewritten rewritten;
  Rewrite(builder.Add({.code = code}).Build(), rewritten, spec);
  // The call's row, that of the code that counts its exception, and that of the method.
  ASSERT_EQ(rewritten.code.exceptions.size(), 3u);
  const ExceptionRow& counted = rewritten.code.exceptions[0];
  const ExceptionRow& again = rewritten.code.exceptions[1];
  const ExceptionRow& method = rewritten.code.exceptions[2];
  EXPECT_EQ(again.start, counted.handler);
  EXPECT_EQ(again.end, method.handler);
  EXPECT_EQ(again.handler, method.handler);
  EXPECT_EQ(rewritten.code.code[method.handler - 1], kOpAthrow);
}

// In a constructor before super(…) nothing can be caught: a block ends after each such instruction.
TEST(BlockProbes, NoHandlersBeforeSuper) {
  ClassBuilder builder;
  const uint16_t super = builder.Method("java/lang/Object", "<init>", "()V");
  const uint16_t callee = builder.Method("U", "f", "()V");
  const ByteVector code = BytesOf()
                              .U1(kOpInvokestatic)
                              .U2(callee)
                              .U1(kOpAload0)
                              .U1(kOpInvokespecial)
                              .U2(super)
                              .U1(kOpReturn);
  Rewritten rewritten;
  Rewrite(builder.Add({.name = "<init>", .access = 1, .code = code, .max_locals = 1}).Build(),
          rewritten);
  EXPECT_TRUE(rewritten.code.exceptions.empty());
  const auto splits =
      std::count_if(rewritten.outcome().counters.begin(), rewritten.outcome().counters.end(),
                    [](const CounterPosition& counter) { return !IsCounter(counter); });
  EXPECT_EQ(splits, 2);
  EXPECT_EQ(rewritten.outcome().counters.size(), 4u);
}

TEST(BlockProbes, CommonLocalsAreTheStrongerOnes) {
  using Type = VerificationType;
  ClassBuilder builder;
  const uint16_t object = builder.Class("java/lang/Object");
  const uint16_t string = builder.Class("java/lang/String");
  const uint16_t list = builder.Class("java/util/List");
  const ByteVector bytes = builder.Build();
  const auto file = ParseClassFile(bytes);
  ASSERT_TRUE(file.ok());
  const Type top = {}, number = {Type::kInteger}, wide = {Type::kLong};
  const Type any = {Type::kObject, object}, text = {Type::kObject, string},
             other = {Type::kObject, list};
  const auto common = [&](std::vector<Type> a, std::vector<Type> b) {
    return CommonLocals(a, b, file->pool);
  };
  EXPECT_EQ(common({number, any}, {top, text}), (std::vector<Type>{number, text}));
  EXPECT_EQ(common({number}, {number, text}), (std::vector<Type>{number, text}));
  EXPECT_EQ(common({wide, text}, {wide}), (std::vector<Type>{wide, text}));
  EXPECT_EQ(common({top, top, text}, {wide}), (std::vector<Type>{wide, text}));
  EXPECT_EQ(common({text}, {other}), std::nullopt);
  EXPECT_EQ(common({text}, {number}), std::nullopt);
  EXPECT_EQ(common({top, number}, {wide}), std::nullopt);
}

TEST(BlockProbes, MethodsTooLargeKeepTheirCalls) {
  ClassBuilder builder;
  const uint16_t callee = builder.Method("U", "f", "()V");
  BytesOf code;
  for (int i = 0; i < 1500; ++i) code.U1(kOpInvokestatic).U2(callee);
  Rewritten rewritten;
  Rewrite(builder.Add({.code = code.U1(kOpReturn)}).Build(), rewritten);
  EXPECT_EQ(rewritten.outcome().reason, Reason::kBlocksTooLarge);
  EXPECT_TRUE(rewritten.outcome().counters.empty());
  EXPECT_TRUE(rewritten.outcome().probed);
}

class OneTarget : public ProbeTargets {
 public:
  uint32_t IdOf(const ProbeTarget&) override { return 1; }
  bool IsNative(const ProbeTarget&) override { return false; }
};

// Its blocks are left out first, although there would be room for them without the points.
TEST(BlockProbes, MethodsTooLargeKeepTheirPoints) {
  constexpr uint32_t kCalls = 450;
  ClassBuilder builder;
  const uint16_t callee = builder.Method("java/util/A", "f", "()V");
  BytesOf code;
  for (uint32_t i = 0; i < kCalls; ++i) code.U1(kOpInvokestatic).U2(callee);
  const ByteVector bytes = builder.Add({.code = code.U1(kOpReturn)}).Build();
  ProbeSpec spec = ProbeSpec::Tree();
  spec.boundary = true;
  spec.block_owner = "java/lang/invoke/JTraceBlocks";
  OneTarget targets;
  Ids ids;
  const auto result =
      RewriteClass(bytes, {.filter = ScopeFilter(),
                           .spec = spec,
                           .assign_id = [](const MethodDeclaration&) { return test::kId; },
                           .targets = &targets,
                           .counters = &ids});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->methods[0].reason, Reason::kBlocksTooLarge);
  EXPECT_EQ(result->probes.calls, kCalls);
  EXPECT_EQ(result->probes.blocks, 0u);
}

TEST(BlockProbes, SubroutinesKeepTheirCalls) {
  ClassBuilder builder("T", /*major=*/48);
  const ByteVector code = BytesOf().U1(kOpJsr).U2(4).U1(kOpReturn).U1(kOpAstore0).U1(kOpRet).U1(0);
  Rewritten rewritten;
  Rewrite(builder.Add({.code = code, .max_locals = 1}).Build(), rewritten);
  EXPECT_EQ(rewritten.outcome().reason, Reason::kBlocksUnknownFlow);
  EXPECT_TRUE(rewritten.outcome().probed);
}

}  // namespace
}  // namespace jtrace::classfile
