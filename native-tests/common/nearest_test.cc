#include "common/nearest.h"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

namespace jtrace {
namespace {

using namespace std::string_view_literals;

using Words = std::vector<std::string_view>;

TEST(NearestTest, EditDistanceIsLevenshteins) {
  EXPECT_EQ(EditDistance(""sv, ""sv), 0u);
  EXPECT_EQ(EditDistance(""sv, "abc"sv), 3u);
  EXPECT_EQ(EditDistance("abc"sv, ""sv), 3u);
  EXPECT_EQ(EditDistance("kitten"sv, "sitting"sv), 3u);
  EXPECT_EQ(EditDistance("flaw"sv, "lawn"sv), 2u);
  EXPECT_EQ(EditDistance("ab"sv, "ba"sv), 2u);  // a swap is two edits
}

TEST(NearestTest, ReturnsTheFirstOfTheNearest) {
  EXPECT_EQ(Nearest("tre"sv, Words{"flat", "tree", "trees"}), "tree");
  EXPECT_EQ(Nearest("x"sv, Words{"a", "b"}), "a");
  EXPECT_EQ(Nearest("x"sv, Words{}), "");
}

TEST(NearestTest, ReadsTheNameOfAnItem) {
  struct Row {
    std::string_view name;
  };
  EXPECT_EQ(Nearest("clok"sv, std::vector<Row>{{"codes"}, {"clock"}},
                    [](const Row& row) { return row.name; }),
            "clock");
}

}  // namespace
}  // namespace jtrace
