// Maps of lines to other files (JSR 45).
#include "common/classfile/source_map.h"

#include <gtest/gtest.h>

#include <string>

namespace jtrace::classfile {
namespace {

// kotlinc's, of a file that inlines functions of itself and of another file.
constexpr char kKotlin[] =
    "SMAP\nMain.kt\nKotlin\n"
    "*S Kotlin\n*F\n+ 1 Main.kt\napp/MainKt\n+ 2 Util.kt\napp/UtilKt\n"
    "*L\n1#1,20:1\n4#1:29\n5#1,2:32\n4#2,3:21\n7#2,3:26\n"
    "*S KotlinDebug\n*F\n+ 1 Main.kt\napp/MainKt\n*L\n13#1:29\n10#1:21,3\n*E\n";

// Jasper's: two lines of a page make several lines of the class each.
constexpr char kJsp[] =
    "SMAP\nhello_jsp.java\nJSP\n*S JSP\n*F\n+ 0 hello.jsp\nhello.jsp\n1 head.jspf\n"
    "*L\n1,2:50,3\n7#1:60,0\n9:70\n*E\n";

// "file:line", "path" of where a line comes from; "" if the map does not have it.
std::string Place(const SourceMap& map, int32_t line) {
  const auto place = map.At(line);
  if (!place.has_value()) return "";
  return std::string(place->file->path) + ":" + std::to_string(place->line);
}

TEST(SourceMapTest, ReadsTheDefaultStratum) {
  const auto map = SourceMap::Parse(kKotlin);
  ASSERT_TRUE(map.has_value());
  EXPECT_EQ(map->stratum(), "Kotlin");
  EXPECT_EQ(Place(*map, 1), "app/MainKt:1");
  EXPECT_EQ(Place(*map, 20), "app/MainKt:20");
  EXPECT_EQ(Place(*map, 21), "app/UtilKt:4");
  EXPECT_EQ(Place(*map, 23), "app/UtilKt:6");
  EXPECT_EQ(Place(*map, 24), "");
  EXPECT_EQ(Place(*map, 26), "app/UtilKt:7");
  EXPECT_EQ(Place(*map, 29), "app/MainKt:4");
  EXPECT_EQ(Place(*map, 33), "app/MainKt:6");
  EXPECT_EQ(Place(*map, 34), "");
  EXPECT_EQ(map->At(21)->file->name, "Util.kt");
}

TEST(SourceMapTest, ReadsANamedStratum) {
  const auto map = SourceMap::ParseStratum(kKotlin, "KotlinDebug");
  ASSERT_TRUE(map.has_value());
  EXPECT_EQ(Place(*map, 29), "app/MainKt:13");
  // Three lines of the class are one line of the source.
  EXPECT_EQ(Place(*map, 21), "app/MainKt:10");
  EXPECT_EQ(Place(*map, 23), "app/MainKt:10");
  EXPECT_EQ(Place(*map, 1), "");
  EXPECT_FALSE(SourceMap::ParseStratum(kKotlin, "JSP").has_value());
}

TEST(SourceMapTest, SeveralLinesOfTheClassAreOneOfTheSource) {
  const auto map = SourceMap::Parse(kJsp);
  ASSERT_TRUE(map.has_value());
  EXPECT_EQ(Place(*map, 49), "");
  EXPECT_EQ(Place(*map, 50), "hello.jsp:1");
  EXPECT_EQ(Place(*map, 52), "hello.jsp:1");
  EXPECT_EQ(Place(*map, 53), "hello.jsp:2");
  EXPECT_EQ(Place(*map, 55), "hello.jsp:2");
  EXPECT_EQ(Place(*map, 56), "");
  // No increment: all of it is one line. A file without a path has its name.
  EXPECT_EQ(Place(*map, 60), "head.jspf:7");
  EXPECT_EQ(Place(*map, 61), "");
  // Without a file it is the file of the row before.
  EXPECT_EQ(Place(*map, 70), "head.jspf:9");
}

TEST(SourceMapTest, ReadsAnyEndOfLine) {
  for (const std::string end : {"\r", "\r\n"}) {
    std::string text = kJsp;
    for (size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += end.size()) {
      text.replace(at, 1, end);
    }
    const auto map = SourceMap::Parse(text);
    ASSERT_TRUE(map.has_value());
    EXPECT_EQ(Place(*map, 53), "hello.jsp:2");
  }
}

// Sections of embedded maps, vendors and strata that are not asked for.
TEST(SourceMapTest, SkipsOtherSections) {
  const auto map = SourceMap::Parse(
      "SMAP\nA.java\nX\n*V\nvendor\n1#1:1\n*O Y\nSMAP\nB\nX\n*S X\n*F\n1 wrong\n*L\n1#1:5\n*E\n*C "
      "Y\n"
      "*S Java\n*F\n1 A.java\n*L\n5#1:5\n*S X\n*F\n1 right\n*L\n8#1:5\n*E\n*S X\n*F\n1 late\n");
  ASSERT_TRUE(map.has_value());
  EXPECT_EQ(Place(*map, 5), "right:8");
}

TEST(SourceMapTest, IgnoresWhatItCannotRead) {
  EXPECT_FALSE(SourceMap::Parse("").has_value());
  EXPECT_FALSE(SourceMap::Parse("SMAP\nA\n\n*S X\n*E\n").has_value());
  EXPECT_FALSE(SourceMap::Parse("smap\nA\nX\n*S X\n*E\n").has_value());
  EXPECT_FALSE(SourceMap::Parse("SMAP\nA\nX\n*E\n*S X\n").has_value());
  const auto map = SourceMap::Parse(
      "SMAP\nA\nX\n*S X\n*F\nfile\n2 B\n*L\n1#9:1\nx\n:3\n1#2\n1#2,0:4\n1#2,70000:5\n-1#2:6\n"
      "1#2:99999999999\n65535#2,65535:7,65535\n");
  ASSERT_TRUE(map.has_value());
  for (int32_t line = 0; line < 7; ++line) EXPECT_EQ(Place(*map, line), "") << line;
  EXPECT_EQ(Place(*map, 7), "B:65535");
  EXPECT_EQ(Place(*map, 65535), "B:65535");
}

}  // namespace
}  // namespace jtrace::classfile
