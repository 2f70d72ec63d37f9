#include "agent/calls/classfile/call_site_finder.h"

#include <string>
#include <vector>

#include "agent/calls/classfile/class_rewriter.h"
#include "common/classfile/opcodes.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "native-tests/agent/calls/classfile/instrumented_method.h"

namespace jtrace::classfile {
namespace {

using test::BytesOf;
using test::ByteVector;
using test::ClassBuilder;
using test::TestMethod;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr uint8_t kIconst0 = 3;

// The call sites as they are requested: the numbers follow from them.
class Numbers : public CallSiteIds {
 public:
  explicit Numbers(bool knows_other_code) : knows_other_code_(knows_other_code) {}
  uint32_t NumberOf(uint32_t routine, CallSite site) override {
    EXPECT_EQ(routine, test::kId);
    asked.push_back(site);
    return static_cast<uint32_t>(asked.size());
  }
  bool AddClassAndFindOtherVersion(std::string_view, Bytes) override { return knows_other_code_; }

  std::vector<CallSite> asked;

 private:
  const bool knows_other_code_;
};

class CallSiteFinderTest : public testing::Test {
 protected:
  // A call of out.C.name(), or of a method that calls nothing.
  ByteVector Call(const std::string& owner = "out/C", const std::string& name = "f") {
    return BytesOf().U1(kOpInvokestatic).U2(builder_.Method(owner, name, "()V"));
  }
  // Rows of (bci, line).
  static TestMethod::Attribute Lines(const std::vector<std::pair<int, int>>& rows) {
    BytesOf body;
    body.U2(static_cast<uint32_t>(rows.size()));
    for (const auto& [bci, line] : rows) {
      body.U2(static_cast<uint32_t>(bci)).U2(static_cast<uint32_t>(line));
    }
    return {"LineNumberTable", body};
  }
  void Rewrite(TestMethod method) {
    ProbeSpec spec = ProbeSpec::Tree();
    spec.call_site = "at";
    builder_.Add(method);
    auto result = RewriteClass(builder_.Build(),
                               {.filter = ScopeFilter(),
                                .spec = spec,
                                .assign_id = [](const MethodDeclaration&) { return test::kId; },
                                .call_sites = &numbers_});
    ASSERT_TRUE(result.ok());
    outcome_ = result->methods.at(0);
    counts_ = result->probes;
  }

  ClassBuilder builder_;
  Numbers numbers_{/*knows_other_code=*/false};
  MethodOutcome outcome_;
  ProbeCounts counts_;
};

ByteVector Concat(const std::vector<ByteVector>& parts) {
  ByteVector all;
  for (const ByteVector& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

TEST_F(CallSiteFinderTest, EachLineIsSetOnceInStraightCode) {
  const ByteVector code = Concat({Call(), Call(), Call(), {kOpReturn}});
  Rewrite({.code = code, .attributes = {Lines({{0, 10}, {3, 11}})}});
  EXPECT_THAT(numbers_.asked, ElementsAre(CallSiteOfLine(10), CallSiteOfLine(11)));
  EXPECT_EQ(outcome_.only_call_site, kNoCallSite);
  EXPECT_EQ(counts_.call_sites, 2u);
}

TEST_F(CallSiteFinderTest, OneLineNeedsNoProbe) {
  Rewrite({.code = Concat({Call(), Call(), {kOpReturn}}), .attributes = {Lines({{0, 10}})}});
  EXPECT_THAT(numbers_.asked, IsEmpty());
  EXPECT_EQ(outcome_.only_call_site, CallSiteOfLine(10));
}

// Its nodes may have children with call sites of the other code.
TEST_F(CallSiteFinderTest, OneLineIsSetIfThereWasOtherCode) {
  Numbers other(/*knows_other_code=*/true);
  ProbeSpec spec = ProbeSpec::Tree();
  spec.call_site = "at";
  builder_.Add({.code = Concat({Call(), {kOpReturn}}), .attributes = {Lines({{0, 10}})}});
  const auto result = RewriteClass(builder_.Build(),
                                   {.filter = ScopeFilter(),
                                    .spec = spec,
                                    .assign_id = [](const MethodDeclaration&) { return test::kId; },
                                    .call_sites = &other});
  ASSERT_TRUE(result.ok());
  EXPECT_THAT(other.asked, ElementsAre(CallSiteOfLine(10)));
  EXPECT_EQ(result->methods.at(0).only_call_site, kNoCallSite);
}

TEST_F(CallSiteFinderTest, WithoutLinesTheCallSiteIsTheInstruction) {
  Rewrite({.code = Concat({Call(), Call(), {kOpReturn}})});
  EXPECT_THAT(numbers_.asked, ElementsAre(CallSiteOfBci(0), CallSiteOfBci(3)));
}

// The way to a target of a jump may have set another line.
TEST_F(CallSiteFinderTest, ATargetOfAJumpIsSetAnew) {
  const ByteVector code = Concat({Call(),                     // 0: line 10
                                  {kIconst0, kOpIfeq, 0, 6},  // 3: to 10
                                  Call(),                     // 7: line 11
                                  Call(),                     // 10: line 11
                                  {kOpReturn}});
  Rewrite({.code = code, .attributes = {Lines({{0, 10}, {7, 11}})}});
  EXPECT_THAT(numbers_.asked,
              ElementsAre(CallSiteOfLine(10), CallSiteOfLine(11), CallSiteOfLine(11)));
}

TEST_F(CallSiteFinderTest, CallsOfTheJdkThatCallNothingAreNotSet) {
  const ByteVector code =
      Concat({Call(), Call("java/lang/System", "nanoTime"), Call(), {kOpReturn}});
  Rewrite({.code = code, .attributes = {Lines({{0, 10}, {3, 11}, {6, 10}})}});
  EXPECT_THAT(numbers_.asked, IsEmpty());
  EXPECT_EQ(outcome_.only_call_site, CallSiteOfLine(10));
}

TEST(PlainCallTest, ArgumentsMustBePlainToo) {
  EXPECT_TRUE(CannotCallBack("java/lang/String", "charAt", "(I)C"));
  EXPECT_TRUE(CannotCallBack("java/lang/StringBuilder", "append", "(Ljava/lang/String;)V"));
  EXPECT_TRUE(CannotCallBack("java/lang/Object", "<init>", "()V"));
  EXPECT_FALSE(CannotCallBack("java/lang/Object", "hashCode", "()I"));
  EXPECT_FALSE(CannotCallBack("java/lang/StringBuilder", "append", "(Ljava/lang/Object;)V"));
  EXPECT_FALSE(CannotCallBack("java/lang/String", "valueOf", "(Ljava/lang/Object;)V"));
  EXPECT_FALSE(
      CannotCallBack("java/lang/String", "format", "(Ljava/lang/String;[Ljava/lang/Object;)V"));
  EXPECT_FALSE(CannotCallBack("java/util/Map", "get", "(Ljava/lang/Object;)Ljava/lang/Object;"));
}

}  // namespace
}  // namespace jtrace::classfile
