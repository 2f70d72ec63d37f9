// Nouns with their numbers.
#include "common/counted.h"

#include <gtest/gtest.h>

namespace jtrace {
namespace {

TEST(CountedTest, ANounFollowsItsNumber) {
  EXPECT_EQ(WithNoun(0, "loop"), "0 loops");
  EXPECT_EQ(WithNoun(1, "loop"), "1 loop");
  EXPECT_EQ(WithNoun(uint64_t{1234}, "class", "classes"), "1,234 classes");
  EXPECT_EQ(WithNoun(1, "class", "classes"), "1 class");
}

TEST(CountedTest, TextsInThePluralHaveASingular) {
  EXPECT_EQ(WithText(2, "classes in scope"), "2 classes in scope");
  for (const auto& [many, one] :
       {std::pair("classes in scope", "class in scope"),
        {"loops", "loop"},
        {"event logs that cannot be read", "event log that cannot be read"},
        {"copies", "copy"},
        {"branches", "branch"},
        {"boxes", "box"},
        {"caches", "cache"},
        {"class that is odd", "class that is odd"},
        {"", ""},
        {"classes", "class"},
        {"loops that ran while probes were added stay interpreted until they return: A.b",
         "loop that ran while probes were added stays interpreted until it returns: A.b"}}) {
    EXPECT_EQ(InSingular(many), one);
  }
}

}  // namespace
}  // namespace jtrace
