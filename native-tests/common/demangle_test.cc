#include "common/demangle.h"

#include <gtest/gtest.h>

namespace jtrace {
namespace {

TEST(DemangleTest, CppNamesBecomeReadable) {
  EXPECT_EQ(Demangle("_ZN1a1fEi"), "a::f(int)");
  EXPECT_EQ(Demangle("_ZNSt6vectorIiSaIiEE9push_backERKi"),
            "std::vector<int, std::allocator<int> >::push_back(int const&)");
}

TEST(DemangleTest, OtherNamesStayAsTheyAre) {
  for (const char* name : {"", "main", "_Z", "_ZN1a", "_Znot a name", "__Z1fv"}) {
    EXPECT_EQ(Demangle(name), name);
  }
}

}  // namespace
}  // namespace jtrace
