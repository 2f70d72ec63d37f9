#include "agent/metrics/method_pattern.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace jtrace::metrics {
namespace {

bool Matches(absl::string_view pattern, absl::string_view class_name, absl::string_view method,
             absl::string_view descriptor = "()V") {
  const auto parsed = MethodPattern::Parse(pattern);
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  return parsed.ok() && parsed->Matches(class_name, method, descriptor);
}

TEST(MethodPatternTest, ClassAndMethodAsInInclude) {
  EXPECT_TRUE(Matches("com.acme.Cache::load", "com.acme.Cache", "load"));
  EXPECT_TRUE(Matches("com.acme.Cache.load", "com.acme.Cache", "load"));
  EXPECT_TRUE(Matches("Attached::step", "Attached", "step"));
  EXPECT_FALSE(Matches("com.acme.Cache::load", "com.acme.Cache", "loadAll"));
  EXPECT_FALSE(Matches("com.acme.Cache::load", "com.acme.Cache$Entry", "load"));
  EXPECT_FALSE(Matches("com.acme.Cache::load", "org.com.acme.Cache", "load"));
  EXPECT_TRUE(Matches("com.acme.Cache$Entry::<init>", "com.acme.Cache$Entry", "<init>"));
}

TEST(MethodPatternTest, Stars) {
  EXPECT_TRUE(Matches("java.sql.Statement::execute*", "java.sql.Statement", "executeBatch"));
  EXPECT_TRUE(Matches("com.acme.*::load", "com.acme.Cache", "load"));
  EXPECT_FALSE(Matches("com.acme.*::load", "com.acme.deep.Cache", "load"));
  EXPECT_TRUE(Matches("com.acme.**::load", "com.acme.deep.Cache", "load"));
  EXPECT_TRUE(Matches("com.acme.Cache$*::load", "com.acme.Cache$Entry", "load"));
}

TEST(MethodPatternTest, ParametersByWholeOrSimpleName) {
  constexpr absl::string_view kDescriptor = "(Ljava/lang/String;I[[J)V";
  EXPECT_TRUE(Matches("A::m(String,int,long[][])", "A", "m", kDescriptor));
  EXPECT_TRUE(Matches("A::m( java.lang.String, int, long[][] )", "A", "m", kDescriptor));
  EXPECT_FALSE(Matches("A::m(String,int)", "A", "m", kDescriptor));
  EXPECT_FALSE(Matches("A::m()", "A", "m", kDescriptor));
  EXPECT_TRUE(Matches("A::m()", "A", "m", "()I"));
  EXPECT_TRUE(Matches("A::m(Entry)", "A", "m", "(Ljava/util/Map$Entry;)V"));
}

TEST(MethodPatternTest, RejectsTextsThatNameNoMethod) {
  for (const char* text : {"", "load", "A::m(int", "a.B::c;a.B::d", "a b::c", "..::x"}) {
    const auto parsed = MethodPattern::Parse(text);
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_THAT(parsed.status().message(), ::testing::HasSubstr("names no method; write"));
  }
}

TEST(MethodPatternTest, LongTextsAreRejectedBeforeTheyAreCompared) {
  const std::string longest = absl::StrCat("a.B::", std::string(MethodPattern::kLongest - 5, 'x'));
  EXPECT_TRUE(MethodPattern::Parse(longest).ok());
  EXPECT_THAT(MethodPattern::Parse(longest + "x").status().message(),
              ::testing::HasSubstr("a pattern of 1001 characters; write one of at most 1000"));
}

TEST(MethodPatternTest, NearestNameIsOneOfItsClass) {
  const std::vector<std::string> names = {"a.Cart::total", "a.Cart::totalOfAll", "a.Cast::totl"};
  EXPECT_EQ(NearestMethod("a.Cart::totl", names), "a.Cart::total");
  EXPECT_EQ(NearestMethod("a.Crat::totalOfAl", names), "a.Cart::totalOfAll");
  EXPECT_EQ(NearestMethod("a.Cart::total", {}), "");
}

TEST(MethodPatternTest, TextOfAMethod) {
  EXPECT_EQ(MethodText("com.acme.Cache", "load", "(Ljava/lang/String;[I)J"),
            "com.acme.Cache.load(String,int[])");
}

}  // namespace
}  // namespace jtrace::metrics
