#include <gtest/gtest.h>

#include "agent/metrics/metrics_report.h"

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

TEST(NameText, LabelsAreEscaped) {
  EXPECT_EQ(PrometheusLabel("a\\b\"c\nd"), "a\\\\b\\\"c\\nd");
  EXPECT_EQ(PrometheusLabel("\\n"), "\\\\n") << "distinguished from the end of a line";
}

}  // namespace
}  // namespace jtrace::metrics
