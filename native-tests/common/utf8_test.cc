#include "common/utf8.h"

#include <gtest/gtest.h>

namespace jtrace {
namespace {

TEST(Utf8Test, ColumnsAreExact) {
  EXPECT_EQ(FitColumns("main", 6), "main  ");
  EXPECT_EQ(FitColumns("mainly", 6), "mainly");
  EXPECT_EQ(FitColumns("mainlyy", 6), "mainl…");
  EXPECT_EQ(FitColumns("日本語", 6), "日本語") << "two columns each";
  EXPECT_EQ(FitColumns("日本語", 5), "日本…");
  EXPECT_EQ(FitColumns("日本語", 4), "日… ");
  EXPECT_EQ(ColumnsOf(FitColumns("😀😀😀", 4)), 4U);
}

TEST(Utf8Test, InvalidBytesBecomeReplacementCharacters) {
  EXPECT_EQ(ValidUtf8("plain"), "plain");
  EXPECT_EQ(ValidUtf8("gr\xC3\xBC\xC3\x9F 😀"), "grüß 😀");
  EXPECT_EQ(ValidUtf8("a\xFFz"), "a\uFFFDz");
  EXPECT_EQ(ValidUtf8("\xED\xA0\xBD"), "\uFFFD") << "a surrogate";
}

}  // namespace
}  // namespace jtrace
