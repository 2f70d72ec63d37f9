#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/native_hooks/hook_targets.h"

namespace jtrace::native_hooks {
namespace {

HookSpec Parsed(absl::string_view text) {
  const auto spec = ParseHookSpec(text);
  EXPECT_TRUE(spec.ok()) << spec.status();
  return spec.value_or(HookSpec());
}

std::string Error(absl::string_view text) {
  return std::string(ParseHookSpecs(text).status().message());
}

TEST(HookSpecTest, AcceptsNamesOfCAndCpp) {
  EXPECT_EQ(Parsed("libc.so.6!malloc"), (HookSpec{"libc.so.6", "malloc", HookKind::kCount}));
  EXPECT_EQ(Parsed("libjvm.so!os::malloc"),
            (HookSpec{"libjvm.so", "os::malloc", HookKind::kCount}));
  EXPECT_EQ(Parsed(" libjvm.so!os::malloc:unwind "),
            (HookSpec{"libjvm.so", "os::malloc", HookKind::kUnwind}));
  EXPECT_EQ(Parsed("a.so!0x12f0:time"), (HookSpec{"a.so", "0x12f0", HookKind::kTime}));
  EXPECT_EQ(Parsed("a*!b*:off"), (HookSpec{"a*", "b*", HookKind::kOff}));
}

TEST(HookSpecTest, ColonsInNamesAreNotKinds) {
  EXPECT_EQ(Parsed("a!f[abi:cxx11]"), (HookSpec{"a", "f[abi:cxx11]", HookKind::kCount}));
  EXPECT_EQ(Parsed("a!f[abi:cxx11]()"), (HookSpec{"a", "f[abi:cxx11]()", HookKind::kCount}));
  EXPECT_EQ(Parsed("a!f[abi:cxx11]():time"), (HookSpec{"a", "f[abi:cxx11]()", HookKind::kTime}));
  EXPECT_EQ(Parsed("a!f(b::c)"), (HookSpec{"a", "f(b::c)", HookKind::kCount}));
}

TEST(HookSpecTest, ErrorsSayWhatIsWrong) {
  EXPECT_THAT(Error(""), testing::HasSubstr("needs a function"));
  EXPECT_THAT(Error("malloc"), testing::HasSubstr("libc.so.6!malloc:count"));
  EXPECT_THAT(Error("libc.so.6!"), testing::HasSubstr("names no function"));
  EXPECT_THAT(Error("libc.so.6!malloc:cuont"), testing::HasSubstr("count, unwind, time or off"));
  EXPECT_THAT(Error("a!os::"), testing::HasSubstr("names no function"));
  EXPECT_EQ(ParseHookSpecs("a!b;c!d:time")->size(), 2u);
}

TEST(HookSpecTest, NamesWithoutAnObjectAreJavaMethods) {
  const HookSpec spec = Parsed("com.acme.Outer$Inner::load:unwind");
  EXPECT_TRUE(spec.IsMethod());
  EXPECT_EQ(spec.symbol, "com.acme.Outer$Inner::load");
  EXPECT_EQ(spec.kind, HookKind::kUnwind);
  EXPECT_EQ(Parsed("A::m").symbol, "A::m");
  EXPECT_FALSE(Parsed("libjvm.so!os::malloc").IsMethod());
  EXPECT_THAT(Error("A::"), testing::HasSubstr("com.acme.Cache::load for a Java method"));
}

TEST(HookSpecTest, TextParsesBackToTheSame) {
  for (const char* text :
       {"libc.so.6!malloc:count", "libjvm.so!os::malloc:unwind", "a.B::m:count"}) {
    EXPECT_EQ(HookSpecText(Parsed(text)), text);
  }
}

}  // namespace
}  // namespace jtrace::native_hooks
