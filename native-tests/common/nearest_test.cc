#include "common/nearest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
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

// All words of up to four letters a and b, against the distance of each.
TEST(NearestTest, SkipsNoNameThatMayBeNearer) {
  std::vector<std::string> words = {""};
  for (size_t i = 0; words.size() < 31; ++i) {
    for (const char letter : {'a', 'b'}) words.push_back(words[i] + letter);
  }
  for (const bool is_reversed : {false, true}) {
    if (is_reversed) std::reverse(words.begin(), words.end());
    for (const std::string word : {"", "c", "abcab", "bbbbbbb", "cacbc"}) {
      const auto first =
          std::min_element(words.begin(), words.end(), [&](const auto& a, const auto& b) {
            return EditDistance(word, a) < EditDistance(word, b);
          });
      EXPECT_EQ(Nearest(word, words), *first) << word;
    }
  }
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
