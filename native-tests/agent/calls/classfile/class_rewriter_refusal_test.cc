// Methods and classes that get no probes, and why.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "agent/calls/classfile/class_rewriter.h"
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
using test::kId;
using test::Rewritten;
using test::TestMethod;
using ::testing::ElementsAre;

Reason RefusalOf(const ByteVector& bytes) {
  int assigned = 0;
  auto result = RewriteClass(bytes, {.filter = ScopeFilter(),
                                     .spec = ProbeSpec::Tree(),
                                     .assign_id = [&assigned](const MethodDeclaration&) {
                                       ++assigned;
                                       return kId;
                                     }});
  EXPECT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(assigned, 0) << "an id for a method without a probe";
  EXPECT_TRUE(result->bytes.empty());
  EXPECT_FALSE(result->methods[0].probed);
  return result->methods[0].reason;
}

TEST(InstrumenterRefusalTest, HugeMethodsKeepTheirSizeClass) {
  auto nops = [](size_t n) {
    ByteVector code(n, kOpNop);
    code.back() = kOpReturn;
    return code;
  };
  // Entry 7, exit 4, catch-all 5.
  Rewritten full, light, above;
  ASSERT_NO_FATAL_FAILURE(Apply(ClassWith({.code = nops(8000 - 16)}), full));
  EXPECT_EQ(full.outcome().reason, Reason::kNone);
  ASSERT_NO_FATAL_FAILURE(Apply(ClassWith({.code = nops(8000 - 15)}), light));
  EXPECT_EQ(light.outcome().reason, Reason::kHugeMethodLight);
  EXPECT_LE(light.code.code.size(), 8000u);
  EXPECT_EQ(RefusalOf(ClassWith({.code = nops(8000 - 10)})), Reason::kHugeMethod);
  EXPECT_EQ(RefusalOf(ClassWith({.code = nops(8000)})), Reason::kHugeMethod);
  ASSERT_NO_FATAL_FAILURE(Apply(ClassWith({.code = nops(8001)}), above));
  EXPECT_EQ(above.outcome().reason, Reason::kNone);
}

TEST(InstrumenterRefusalTest, Refusals) {
  EXPECT_EQ(RefusalOf(ClassWith({.code = {kOpReturn}, .attributes = {{"Strange", {}}}})),
            Reason::kUnknownAttribute);
  EXPECT_EQ(RefusalOf(ClassWith({.code = {kOpReturn}, .max_locals = 65534})),
            Reason::kFrameTooLarge);
  EXPECT_EQ(RefusalOf(ClassWith({.code = {kOpReturn}, .max_stack = 65535})),
            Reason::kFrameTooLarge);
  EXPECT_EQ(RefusalOf(ClassWith({.code = {203}})), Reason::kMalformedCode);
  EXPECT_EQ(RefusalOf(ClassWith({.code = {kOpGoto, 0, 1, kOpReturn}})), Reason::kMalformedCode);
  EXPECT_EQ(RefusalOf(ClassWith({.code = {kOpReturn}, .exceptions = {{0, 2, 0, 0}}})),
            Reason::kMalformedTable);
  EXPECT_EQ(RefusalOf(ClassWith(
                {.code = {kOpReturn}, .attributes = {{"StackMapTable", BytesOf().U2(1).U1(64)}}})),
            Reason::kMalformedStackMap);
  EXPECT_EQ(RefusalOf(ClassWith({.name = "finalize", .code = {kOpReturn}})),
            Reason::kEmptyFinalizer);
  EXPECT_EQ(RefusalOf(ClassWith({.code = ByteVector(65530, kOpReturn)})), Reason::kCodeTooLarge);
  BytesOf far;
  far.U1(kOpIfeq).U2(32767).Add(ByteVector(32764, kOpReturn)).U1(kOpReturn);
  EXPECT_EQ(RefusalOf(ClassWith({.code = far})), Reason::kJumpTooFar);
  EXPECT_EQ(RefusalOf(ClassWith({.code = {}})), Reason::kNoCode);
  ClassBuilder full;
  full.Add({.code = {kOpReturn}});
  full.PadPool(65530);
  EXPECT_EQ(RefusalOf(full.Build()), Reason::kConstantPoolFull);
}

// Its exit would be on another thread than its entry.
TEST(InstrumenterRefusalTest, MethodsThatChangeTheThread) {
  ClassBuilder builder;
  const uint16_t other = builder.Utf8("Ljava/lang/Deprecated;");
  const uint16_t marked = builder.Utf8("Ljdk/internal/vm/annotation/ChangesCurrentThread;");
  // @Deprecated(since = {"", @Deprecated, E.c}) @ChangesCurrentThread
  const ByteVector body = BytesOf()
                              .U2(2)
                              .U2(other)
                              .U2(1)
                              .U2(other)
                              .U1('[')
                              .U2(3)
                              .U1('s')
                              .U2(other)
                              .U1('@')
                              .U2(other)
                              .U2(0)
                              .U1('e')
                              .U2(other)
                              .U2(other)
                              .U2(marked)
                              .U2(0);
  const ByteVector one = BytesOf().U2(1).U2(other).U2(0);
  builder.Add({.code = {kOpReturn}, .own = {{"RuntimeVisibleAnnotations", body}}});
  builder.Add({.code = {kOpReturn}, .own = {{"RuntimeVisibleAnnotations", one}}});
  const auto result =
      RewriteClass(builder.Build(), {.filter = ScopeFilter(),
                                     .spec = ProbeSpec::Tree(),
                                     .assign_id = [](const MethodDeclaration&) { return kId; }});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->methods[0].reason, Reason::kChangesThread);
  EXPECT_FALSE(result->methods[0].probed);
  EXPECT_TRUE(result->methods[1].probed);
}

TEST(InstrumenterRefusalTest, MethodsThatRunOnAfterAVirtualThreadsEnd) {
  const auto is_probed = [](const char* name, const char* method) {
    const ByteVector bytes = ClassBuilder(name).Add({.name = method, .code = {kOpReturn}}).Build();
    const auto result =
        RewriteClass(bytes, {.filter = ScopeFilter::Everything(),
                             .spec = ProbeSpec::Tree(),
                             .assign_id = [](const MethodDeclaration&) { return kId; }});
    EXPECT_TRUE(result.ok()) << result.status();
    return result->methods[0].probed;
  };
  EXPECT_FALSE(is_probed("jdk/internal/vm/Continuation", "enter"));
  EXPECT_FALSE(is_probed("java/lang/VirtualThread$VThreadContinuation$1", "run"));
  EXPECT_FALSE(is_probed("java/lang/VirtualThread", "run"));
  EXPECT_TRUE(is_probed("java/lang/VirtualThread", "park"));
  EXPECT_TRUE(is_probed("jdk/internal/vm/ContinuationSupport", "isSupported"));
}

// As constructors of value classes have them, a preview of Java 28.
TEST(InstrumenterRefusalTest, OnlyMethodsWithUnknownFramesStayUnchanged) {
  const TestMethod larval = {
      .name = "a",
      .code = {kOpNop, kOpReturn},
      .attributes = {{"StackMapTable", BytesOf().U2(1).U1(246).U2(0).U1(1)}}};
  EXPECT_EQ(RefusalOf(ClassWith(larval, 72)), Reason::kUnknownFrame);
  const ByteVector bytes =
      ClassBuilder("T", 72).Add(larval).Add({.name = "b", .code = {kOpReturn}}).Build();
  const auto result =
      RewriteClass(bytes, {.filter = ScopeFilter(),
                           .spec = ProbeSpec::Tree(),
                           .assign_id = [](const MethodDeclaration&) { return kId; }});
  ASSERT_TRUE(result.ok());
  EXPECT_FALSE(result->methods[0].probed);
  EXPECT_TRUE(result->methods[1].probed);
}

TEST(InstrumenterRefusalTest, ScopeDecidesPerMethod) {
  const ByteVector bytes = ClassBuilder()
                               .Add({.name = "a", .code = {kOpReturn}})
                               .Add({.name = "b", .code = {kOpReturn}})
                               .Build();
  const auto filter = ScopeFilter::Create(std::vector<std::string>{"T::b"}, {});
  std::vector<std::string> asked;
  auto result = RewriteClass(bytes, {.filter = *filter,
                                     .spec = ProbeSpec::Tree(),
                                     .assign_id = [&asked](const MethodDeclaration& method) {
                                       asked.emplace_back(method.name);
                                       return kId;
                                     }});
  ASSERT_TRUE(result.ok());
  EXPECT_THAT(asked, ElementsAre("b"));
  EXPECT_EQ(result->methods[0].reason, Reason::kOutOfScope);
  const auto outside = ScopeFilter::Create(std::vector<std::string>{"U"}, {});
  result = RewriteClass(bytes, {.filter = *outside,
                                .spec = ProbeSpec::Tree(),
                                .assign_id = [](const MethodDeclaration&) { return kId; }});
  EXPECT_TRUE(result->bytes.empty());
  EXPECT_EQ(result->methods.size(), 2u);
}

TEST(InstrumenterRefusalTest, EveryTruncationIsRejected) {
  const ByteVector bytes = ClassWith({.code = {kOpNop, kOpReturn}});
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(Summarize(Bytes(bytes).first(size)).ok()) << size;
  }
  EXPECT_TRUE(Summarize(bytes).ok());
}

TEST(InstrumenterRefusalTest, UnknownVersionsStayUnchanged) {
  for (const uint16_t major : {44, 73}) {
    EXPECT_EQ(Summarize(ClassWith({.code = {kOpReturn}}, major)).status().code(),
              absl::StatusCode::kUnimplemented);
  }
  for (const uint16_t major : {45, 72}) {
    EXPECT_TRUE(Summarize(ClassWith({.code = {kOpReturn}}, major)).ok());
  }
}

}  // namespace
}  // namespace jtrace::classfile
