#include "common/scope_filter.h"

#include <gtest/gtest.h>

namespace jtrace::classfile {
namespace {

using Scope = ScopeFilter::ClassScope;

ScopeFilter Filter(std::vector<std::string> include, std::vector<std::string> exclude = {}) {
  auto filter = ScopeFilter::Create(include, exclude);
  EXPECT_TRUE(filter.ok()) << filter.status();
  return filter.ok() ? *filter : ScopeFilter();
}

TEST(ScopeFilterTest, StarsOfBothKindsInOnePattern) {
  const std::vector<std::string> include = {"com.acme.**.*Impl"};
  const auto filter = ScopeFilter::Create(include, {});
  ASSERT_TRUE(filter.ok());
  for (const char* name : {"com/acme/a/FooImpl", "com/acme/a/b/FooImpl", "com/acme/a/b/c/Impl"}) {
    EXPECT_TRUE(filter->MayMatchClass(name)) << name;
  }
  for (const char* name : {"com/acme/a/FooImpl2", "com/acme2/a/FooImpl", "org/acme/a/FooImpl"}) {
    EXPECT_FALSE(filter->MayMatchClass(name)) << name;
  }
}

TEST(ScopeFilterTest, DefaultIsEverythingExceptTheJdkAndJtrace) {
  const ScopeFilter filter;
  for (const char* in : {"Fib", "org/h2/Driver", "javax/inject/Inject", "com/sun/jna/Native",
                         "javafx/scene/Node", "com/sunny/Day"}) {
    EXPECT_TRUE(filter.MayMatchClass(in)) << in;
  }
  for (const char* out : {"java/lang/String", "jdk/internal/misc/VM", "sun/nio/ch/Net",
                          "javax/swing/JFrame", "com/sun/tools/javac/Main", "org/w3c/dom/Node",
                          "jtrace/api/Metrics", "java/lang/invoke/JTraceProbe"}) {
    EXPECT_FALSE(filter.MayMatchClass(out)) << out;
  }
}

// include=java.**: classes that the probes run through have none, or the probes would call
// themselves.
TEST(ScopeFilterTest, ClassesThatProbesRunThroughAreNeverInScope) {
  const ScopeFilter all = Filter({"java.**", "jdk.**"});
  for (const char* out : {"java/lang/Object", "java/lang/Thread", "jdk/internal/misc/Unsafe",
                          "java/util/Objects", "java/lang/invoke/MethodHandleImpl",
                          "java/lang/foreign/Linker", "jdk/internal/foreign/abi/DowncallLinker"}) {
    EXPECT_FALSE(all.MayMatchClass(out)) << out;
  }
  EXPECT_TRUE(all.MayMatchClass("java/lang/Math"));
}

TEST(ScopeFilterTest, NamedClassesThatProbesRunThroughAreExempt) {
  const ScopeFilter some = Filter({"java.lang.*", "jtrace.**"}, {"java.lang.Thread"});
  EXPECT_TRUE(some.IsExempt("java/lang/Object"));
  for (const char* not_exempt : {"java/lang/Thread", "java/util/Objects", "java/lang/Math",
                                 "java/lang/invoke/MethodHandle", "jtrace/NativeMetrics"}) {
    EXPECT_FALSE(some.IsExempt(not_exempt)) << not_exempt;
  }
  EXPECT_FALSE(ScopeFilter().IsExempt("java/lang/Object"));
  EXPECT_TRUE(Filter({"java.**"}).IsExempt("java/lang/invoke/MethodHandle"));
  EXPECT_FALSE(Filter({"java.**"}).IsExempt("java/lang/invoke/JTraceProbe"));
}

TEST(ScopeFilterTest, PackagesWithAndWithoutSubpackages) {
  const ScopeFilter deep = Filter({"a.b.**"});
  EXPECT_TRUE(deep.MayMatchClass("a/b/C"));
  EXPECT_TRUE(deep.MayMatchClass("a/b/c/D"));
  EXPECT_FALSE(deep.MayMatchClass("a/bc/D"));
  EXPECT_FALSE(deep.MayMatchClass("x/a/b/C"));
  const ScopeFilter flat = Filter({"a.b.*"});
  EXPECT_TRUE(flat.MayMatchClass("a/b/C$D"));
  EXPECT_FALSE(flat.MayMatchClass("a/b/c/D"));
}

TEST(ScopeFilterTest, MethodsInBothNotations) {
  for (const char* pattern : {"a.C::run", "a.C.run"}) {
    const ScopeFilter filter = Filter({pattern});
    EXPECT_EQ(filter.ScopeOf("a/C"), Scope::kSomeMethods) << pattern;
    EXPECT_TRUE(filter.Includes("a/C", "run"));
    EXPECT_FALSE(filter.Includes("a/C", "runs"));
    EXPECT_FALSE(filter.MayMatchClass("a/D"));
  }
  EXPECT_TRUE(Filter({"Fib::fib"}).Includes("Fib", "fib"));
  EXPECT_TRUE(Filter({"Fib.fib"}).Includes("Fib", "fib"));
  EXPECT_TRUE(Filter({"a.C::get*"}).Includes("a/C", "getX"));
  EXPECT_TRUE(Filter({"a.C::<init>"}).Includes("a/C", "<init>"));
}

TEST(ScopeFilterTest, ExclusionWinsAndListsAccumulate) {
  const ScopeFilter filter = Filter({"a.**; b.**", "c.D"}, {"a.x.**;b.C::skip"});
  EXPECT_EQ(filter.ScopeOf("a/B"), Scope::kAllMethods);
  EXPECT_EQ(filter.ScopeOf("a/x/B"), Scope::kNone);
  EXPECT_EQ(filter.ScopeOf("b/C"), Scope::kSomeMethods);
  EXPECT_TRUE(filter.Includes("b/C", "keep"));
  EXPECT_FALSE(filter.Includes("b/C", "skip"));
  EXPECT_EQ(filter.ScopeOf("c/D"), Scope::kAllMethods);
  EXPECT_EQ(filter.ScopeOf("c/E"), Scope::kNone);
  EXPECT_FALSE(Filter({}, {"a.**"}).MayMatchClass("a/B"));
  EXPECT_TRUE(Filter({}, {"a.**"}).MayMatchClass("b/B"));
}

TEST(ScopeFilterTest, JdkClassesNeedTheirPackagesName) {
  EXPECT_FALSE(Filter({"*"}).MayMatchClass("java/util/HashMap"));
  EXPECT_TRUE(Filter({"*"}).MayMatchClass("a/b/C"));
  EXPECT_TRUE(Filter({"java.util.*"}).MayMatchClass("java/util/HashMap"));
  EXPECT_TRUE(Filter({"java.util.HashMap::put"}).Includes("java/util/HashMap", "put"));
  EXPECT_FALSE(Filter({"java.lang.*"}).MayMatchClass("java/lang/Object"));
  EXPECT_TRUE(ScopeFilter::Everything().MayMatchClass("java/lang/Object"));
}

TEST(ScopeFilterTest, WhatAlsoMatchesIsInScopeBesides) {
  const auto filter =
      ScopeFilter::Create(std::vector<std::string>{"a.*"}, {std::string("d.*")},
                          {std::string("b.C::m"), std::string("java.util.BitSet::flip"),
                           std::string("d.E::m"), std::string("*::toString")});
  ASSERT_TRUE(filter.ok());
  EXPECT_TRUE(filter->Includes("a/B", "n"));
  EXPECT_TRUE(filter->Includes("b/C", "m"));
  EXPECT_FALSE(filter->Includes("b/C", "n"));
  EXPECT_EQ(filter->ScopeOf("b/C"), ScopeFilter::ClassScope::kSomeMethods);
  EXPECT_TRUE(filter->Includes("java/util/BitSet", "flip"));
  EXPECT_TRUE(filter->Includes("d/E", "m"));
  EXPECT_FALSE(filter->Includes("d/E", "n"));
  EXPECT_FALSE(filter->MayMatchClass("java/util/HashMap"));
  EXPECT_FALSE(filter->Includes("java/util/HashMap", "toString"));
}

TEST(ScopeFilterTest, RejectsMalformedPatterns) {
  for (const char* bad :
       {"a..b", ".a", "a.", "a b", "a/b", "A::", "::m", "A::m::n", "***", "A::m("}) {
    EXPECT_FALSE(ScopeFilter::Create(std::vector<std::string>{bad}, {}).ok()) << bad;
  }
}

}  // namespace
}  // namespace jtrace::classfile
