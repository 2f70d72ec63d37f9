#include "common/visible_text.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace jtrace {
namespace {

using namespace std::string_literals;

TEST(VisibleTextTest, KeepsVisibleCharacters) {
  for (const char* text : {"", "main", "grüß", "日本語", "😀", R"(C:\x1b)"}) {
    EXPECT_EQ(VisibleText(text), text);
  }
}

TEST(VisibleTextTest, EscapesCharactersThatATerminalObeys) {
  EXPECT_EQ(VisibleText("\x1b]0;x\x07\r\n\t\x7f\0"s), R"(\x1b]0;x\x07\x0d\x0a\x09\x7f\x00)");
  EXPECT_EQ(VisibleText("a\u009B31mb\u0080"), R"(a\x9b31mb\x80)") << "C1";
  EXPECT_EQ(VisibleText("\u202Egpj.exe\u202C\u2066x\u2069\u200F\u061C"),
            R"(\u202egpj.exe\u202c\u2066x\u2069\u200f\u061c)");
  EXPECT_EQ(VisibleText("a\u2028b\uFEFF"), R"(a\u2028b\ufeff)");
}

TEST(VisibleTextTest, EscapesInvalidCharacters) {
  EXPECT_EQ(VisibleText("\xED\xA0\xBDx"), R"(\ud83dx)") << "a lone surrogate";
  EXPECT_EQ(VisibleText("\x9B\xFFz"), R"(\x9b\xffz)") << "8-bit terminals obey the first";
  EXPECT_EQ(VisibleText("\xE2\x82"), R"(\xe2\x82)") << "cut off";
  EXPECT_EQ(VisibleText("\xC1\x9B\xC0\x80"), R"(\xc1\x9b\xc0\x80)") << "overlong";
  EXPECT_EQ(VisibleText("\xF4\x90\x80\x80"), R"(\xf4\x90\x80\x80)") << "beyond U+10FFFF";
}

TEST(VisibleTextTest, LinesMayBeKept) {
  EXPECT_EQ(VisibleLines("a\x1b\nb\r\n"), "a\\x1b\nb\\x0d\n");
}

TEST(VisibleTextTest, AnyBytesBecomeOneLineOfUtf8) {
  std::minstd_rand random(3);
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes;
    for (unsigned n = random() % 8; n > 0; --n) bytes += static_cast<char>(random() >> 7);
    const std::string shown = VisibleText(bytes);
    EXPECT_EQ(VisibleText(shown), shown) << "nothing is left to be escaped";
    for (const char c : shown) EXPECT_GE(static_cast<unsigned char>(c), 0x20);
  }
}

TEST(ModifiedUtf8Test, BecomesUtf8) {
  EXPECT_EQ(FromModifiedUtf8("grüß 😀"), "grüß 😀");
  EXPECT_EQ(FromModifiedUtf8("\xED\xA0\xBD\xED\xB8\x80!"), "😀!") << "a pair of surrogates";
  EXPECT_EQ(FromModifiedUtf8("a\xC0\x80z"), "a\0z"s);
}

TEST(ModifiedUtf8Test, KeepsLoneSurrogates) {
  for (const char* text : {"\xED\xA0\xBDx", "\xED\xB8\x80\xED\xA0\xBD", "\xED\xA0", "\xFF\xC0"}) {
    EXPECT_EQ(FromModifiedUtf8(text), text);
  }
  EXPECT_EQ(FromModifiedUtf8("\xED\xA0\xBD\xED\xA0\xBD\xED\xB8\x80"), "\xED\xA0\xBD😀");
}

TEST(ModifiedUtf8Test, IsMadeOfUtf8) {
  EXPECT_EQ(ToModifiedUtf8("grüß 😀!"), "grüß \xED\xA0\xBD\xED\xB8\x80!");
  EXPECT_EQ(ToModifiedUtf8("a\0z"s), "a\xC0\x80z");
  EXPECT_EQ(FromModifiedUtf8(ToModifiedUtf8("\U00010000\U0010FFFF")), "\U00010000\U0010FFFF");
  for (const char* text : {"", "\xED\xA0\xBD\xED\xB8\x80", "a\xC0\x80z", "\xFF\xE2\x82"}) {
    EXPECT_EQ(ToModifiedUtf8(text), text);
  }
}

TEST(CutCharacterTest, IsTheBeginningOfACharacter) {
  EXPECT_TRUE(IsCutCharacter("\xE2\x82"));
  EXPECT_TRUE(IsCutCharacter("\xF0"));
  for (const char* text : {"", "a", "\xC2\x85", "\xE2x", "\xFF", "\x85"}) {
    EXPECT_FALSE(IsCutCharacter(text));
  }
}

}  // namespace
}  // namespace jtrace
