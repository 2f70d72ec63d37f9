#include "agent/native_hooks/cpp_name.h"

#include <gtest/gtest.h>

namespace jtrace::native_hooks {
namespace {

TEST(CppNameTest, ParametersAreTheLastBracketsOfAName) {
  EXPECT_EQ(WithoutParameters("malloc"), "malloc");
  EXPECT_EQ(WithoutParameters("a::f(int) const"), "a::f");
  EXPECT_EQ(WithoutParameters("(anonymous namespace)::f"), "(anonymous namespace)::f");
  EXPECT_EQ(WithoutParameters("a::(anonymous namespace)::f(b)"), "a::(anonymous namespace)::f");
  EXPECT_EQ(WithoutParameters("a::operator()(int)"), "a::operator()");
  EXPECT_EQ(WithoutParameters("a::operator()"), "a::operator()");
  EXPECT_EQ(WithoutParameters("f(int)::{lambda(long)#1}::operator()(long) const"),
            "f(int)::{lambda(long)#1}::operator()");
  EXPECT_EQ(WithoutParameters("f(int) [clone .isra.0]"), "f");
  EXPECT_EQ(WithoutParameters("f(void (*)(int))"), "f");
  EXPECT_EQ(WithoutParameters("operator<(a, b)"), "operator<");
  EXPECT_EQ(WithoutParameters("void f<(a)1, ((b)<(c))>(int)"), "void f<(a)1, ((b)<(c))>");
  EXPECT_EQ(WithoutParameters("f[abi:cxx11](int)"), "f[abi:cxx11]");
}

TEST(CppNameTest, WordsOfMangledNamesAreNoneOfTheLanguage) {
  EXPECT_EQ(WordOfMangled("os::malloc(unsigned long, MEMFLAGS)"), "malloc");
  EXPECT_EQ(WordOfMangled("std::basic_string<char, wide>::operator=(std::wide const&)"), "");
  EXPECT_EQ(WordOfMangled("(anonymous namespace)::f() [clone .constprop.0]"), "f");
  EXPECT_EQ(WordOfMangled("unsigned long a::operator<< <wide>(wide)"), "a");
  EXPECT_EQ(WordOfMangled("f(long)::{lambda(wide)#1}::operator()(wide) const"), "f");
  EXPECT_EQ(WordOfMangled("a::f[abi:cxx11]() const"), "a");
  EXPECT_EQ(WordOfMangled("operator new(unsigned long)"), "");
  EXPECT_EQ(WordOfMangled("f<wide"), "");
}

TEST(CppNameTest, ReportsLeaveNoBlanksBetweenAngleBrackets) {
  EXPECT_EQ(Normalized("f<a<b<c> > >(d)"), "f<a<b<c>>>(d)");
}

TEST(CppNameTest, TextsThatAreNoNamesAreTakenToo) {
  EXPECT_FALSE(NestingOf("f(").is_balanced);
  EXPECT_FALSE(NestingOf(")f").is_balanced);
  EXPECT_FALSE(NestingOf("f<(a>").is_balanced);
  EXPECT_TRUE(NestingOf("a>b").is_balanced);
  EXPECT_EQ(NestingOf("operator").depths.size(), 8u);
  EXPECT_EQ(NestingOf("operator->*").depths.size(), 11u);
}

}  // namespace
}  // namespace jtrace::native_hooks
