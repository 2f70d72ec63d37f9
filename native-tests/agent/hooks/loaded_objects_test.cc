#include "agent/hooks/loaded_objects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "native-tests/agent/hooks/hooked_functions.h"

namespace jtrace::hooks {
namespace {

LoadedObject Object(absl::string_view name) {
  for (const LoadedObject& object : LoadedObjects()) {
    if (object.name == name) return object;
  }
  ADD_FAILURE() << name << " is not loaded";
  return {};
}

std::vector<std::string> Names(const LoadedObject& object, absl::string_view pattern) {
  std::vector<std::string> names;
  for (const Function& function : FindFunctions(object, pattern)) names.push_back(function.name);
  std::sort(names.begin(), names.end());
  return names;
}

TEST(LoadedObjectsTest, FindsFunctionsByAnyOfTheirNames) {
  const LoadedObject object = Object("libhooked_functions.so");
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
  EXPECT_EQ(FindFunctions(object, "hooked_*").size(), 8u);
  EXPECT_TRUE(FindFunctions(object, "hooked").empty());
  EXPECT_EQ(NearestFunction(object, "hooked_ad"), "hooked_add");
}

TEST(LoadedObjectsTest, FindsTheImplementationThatTheLoaderChose) {
  const LoadedObject libc = Object("libc.so.6");
  const auto found = FindFunctions(libc, "strlen");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(libc.HasCodeAt(found[0].address));
}

}  // namespace
}  // namespace jtrace::hooks
