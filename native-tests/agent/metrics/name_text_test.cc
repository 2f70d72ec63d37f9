#include "agent/metrics/name_text.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

namespace jtrace::metrics {
namespace {

TEST(NameText, ModifiedUtf8BecomesUtf8) {
  EXPECT_EQ(Utf8Of("main"), "main");
  EXPECT_EQ(Utf8Of("gr\xC3\xBC\xC3\x9F"), "grüß");
  EXPECT_EQ(Utf8Of("\xED\xA0\xBD\xED\xB8\x80!"), "😀!") << "a pair of surrogates";
  EXPECT_EQ(Utf8Of("😀"), "😀");
  EXPECT_EQ(Utf8Of("a\xC0\x80z"), std::string("a\0z", 3));
}

TEST(NameText, WhatIsNoCharacterIsReplaced) {
  EXPECT_EQ(Utf8Of("\xED\xA0\xBDx"), "\uFFFDx") << "a high surrogate alone";
  EXPECT_EQ(Utf8Of("\xED\xB8\x80"), "\uFFFD") << "a low one";
  EXPECT_EQ(Utf8Of("\xFF"), "\uFFFD");
  EXPECT_EQ(Utf8Of("a\xE2\x82"), "a\uFFFD\uFFFD") << "cut off";
  EXPECT_EQ(Utf8Of("\xC1\x81"), "\uFFFD\uFFFD") << "overlong";
  EXPECT_EQ(Utf8Of("\xF4\x90\x80\x80").substr(0, 3), "\uFFFD") << "beyond U+10FFFF";
}

// A parser of others is the judge: any bytes at all become valid JSON.
TEST(NameText, AnyBytesBecomeValidJson) {
  std::minstd_rand random(1);
  for (int i = 0; i < 5000; ++i) {
    std::string bytes;
    for (unsigned n = random() % 12; n > 0; --n) bytes += static_cast<char>(random() >> 3);
    const std::string utf8 = Utf8Of(bytes);
    const nlohmann::json parsed = nlohmann::json::parse(JsonString(utf8));
    EXPECT_EQ(parsed.get<std::string>(), utf8);
  }
}

TEST(NameText, LabelsAreEscaped) {
  EXPECT_EQ(PrometheusLabel("a\\b\"c\nd"), "a\\\\b\\\"c\\nd");
  EXPECT_EQ(PrometheusLabel("\\n"), "\\\\n") << "told apart from the end of a line";
}

TEST(NameText, TerminalsAreNotCommanded) {
  EXPECT_EQ(Printable("\x1b[2Jx\r\n\t\x7f"), "\\x1b[2Jx\\x0d\\x0a\\x09\\x7f");
  EXPECT_EQ(Printable("a\u202Eb\u0085c"), "a\\u202eb\\x85c");
  EXPECT_EQ(Printable("grüß 😀"), "grüß 😀");
}

TEST(NameText, ColumnsAreExact) {
  EXPECT_EQ(Column("main", 6), "main  ");
  EXPECT_EQ(Column("mainly", 6), "mainly");
  EXPECT_EQ(Column("mainlyy", 6), "mainl…");
  EXPECT_EQ(Column("日本語", 6), "日本語") << "two columns each";
  EXPECT_EQ(Column("日本語", 5), "日本…");
  EXPECT_EQ(Column("日本語", 4), "日… ");
  EXPECT_EQ(ColumnsOf(Column("😀😀😀", 4)), 4U);
}

}  // namespace
}  // namespace jtrace::metrics
