#include "agent/native_hooks/object_functions.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/native_hooks/cpp_name.h"
#include "native-tests/agent/native_hooks/hooked_functions.h"

namespace jtrace::native_hooks {
namespace {

LoadedDso Object(absl::string_view name) {
  for (const LoadedDso& object : LoadedDsos()) {
    if (object.name == name) return object;
  }
  ADD_FAILURE() << name << " is not loaded";
  return {};
}

std::vector<std::string> Names(const LoadedDso& object, absl::string_view pattern) {
  std::vector<std::string> names;
  for (const Function& function : FindFunctions(object, pattern)) names.push_back(function.name);
  std::sort(names.begin(), names.end());
  return names;
}

TEST(ObjectFunctionsTest, FindsFunctionsByAnyOfTheirNames) {
  const LoadedDso object = Object("libhooked_functions.so");
  const auto found = FindFunctions(object, "hooked_add");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].address, reinterpret_cast<uintptr_t>(&hooked_add));
  EXPECT_EQ(FunctionAt(object, found[0].address + 1).name, "hooked_add");
  EXPECT_THAT(Names(object, "hooked::Overloaded"),
              testing::ElementsAre("hooked::Overloaded(int)", "hooked::Overloaded(long)"));
  EXPECT_THAT(Names(object, "hooked::Overloaded(long)"),
              testing::ElementsAre("hooked::Overloaded(long)"));
  EXPECT_THAT(Names(object, "_ZN6hooked10OverloadedEi"),
              testing::ElementsAre("hooked::Overloaded(int)"));
  EXPECT_EQ(FindFunctions(object, "hooked_*").size(), 12u);
  EXPECT_TRUE(FindFunctions(object, "hooked").empty());
  EXPECT_EQ(NearestFunction(object, "hooked_ad"), "hooked_add");
}

TEST(ObjectFunctionsTest, FindsTheImplementationThatTheLoaderChose) {
  const LoadedDso libc = Object("libc.so.6");
  const auto found = FindFunctions(libc, "strlen");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(libc.HasCodeAt(found[0].address));
}

TEST(ObjectFunctionsTest, NamesWithParametersNameOneOfThem) {
  const LoadedDso object = Object("libhooked_functions.so");
  for (const char* name :
       {"hooked::Wide(unsigned long, hooked::Flags)", "hooked::OfText(char const*)",
        "hooked::Text[abi:cxx11]()", "hooked::Number::operator<(hooked::Number const&) const",
        "hooked::Number::operator->()", "hooked::Number::operator,(int)",
        "hooked::Number::operator unsigned long() const",
        "hooked::operator<<(hooked::Number&, int)", "hooked::(anonymous namespace)::Hidden(int)"}) {
    EXPECT_THAT(Names(object, name), testing::ElementsAre(name));
  }
  // A lambda's name begins with the name of its enclosing function.
  EXPECT_THAT(Names(object, "hooked::WithLambda"), testing::ElementsAre("hooked::WithLambda(int)"));
  EXPECT_EQ(Names(object, "hooked::OfText").size(), 2u);
  EXPECT_EQ(Names(object, "hooked::OfText(char const*, *)").size(), 1u);
  EXPECT_EQ(Names(object, "hooked::Text[abi:cxx11](*").size(), 1u);
}

// Displayed names can be used in requests. Returns how many were.
size_t FindAgain(const LoadedDso& object, size_t each) {
  const std::vector<Function> all = FindFunctions(object, "*");
  size_t asked = 0;
  for (size_t i = 0; i < all.size(); i += each) {
    const Function& function = all[i];
    for (const std::string& name : {function.name, Normalized(function.name)}) {
      const std::vector<Function> found = FindFunctions(object, name);
      const bool is_there = std::any_of(found.begin(), found.end(), [&](const Function& other) {
        return other.address == function.address;
      });
      EXPECT_TRUE(is_there) << name << " = " << function.symbol;
    }
    ++asked;
  }
  return asked;
}

TEST(ObjectFunctionsTest, EveryNameFindsItsFunction) {
  EXPECT_GT(FindAgain(Object("libhooked_functions.so"), 1), 30u);
  EXPECT_GT(FindAgain(Object("libstdc++.so.6"), 50), 60u);
}

TEST(ObjectFunctionsTest, EveryNameOfTheJvmFindsItsFunction) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "too slow";
#endif
  if (dlopen(JTRACE_LIBJVM, RTLD_LAZY) == nullptr) GTEST_SKIP() << dlerror();
  EXPECT_GT(FindAgain(Object("libjvm.so"), 2000), 20u);
}

}  // namespace
}  // namespace jtrace::native_hooks
