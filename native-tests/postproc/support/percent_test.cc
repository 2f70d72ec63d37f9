#include "postproc/support/percent.h"

#include <gtest/gtest.h>

namespace jtrace::postproc {
namespace {

TEST(PercentTest, CodesBecomeCharacters) {
  EXPECT_EQ(DecodePercents("/opt/my%20server%2b.jar"), "/opt/my server+.jar");
  EXPECT_EQ(DecodePercents("/opt/caf%C3%A9/"), "/opt/caf\u00e9/");
  EXPECT_EQ(DecodePercents("%41%42"), "AB");
}

TEST(PercentTest, WhatIsNoCodeStays) {
  for (const char* const path :
       {"", "/a+b", "/100%", "/100%2", "/50%off.jar", "/a%-1b", "/a% 20"}) {
    EXPECT_EQ(DecodePercents(path), path);
  }
}

TEST(PercentTest, ControlCharactersStayCodes) {
  EXPECT_EQ(DecodePercents("/a%0a%00%1b%7f%20b"), "/a%0a%00%1b%7f b");
}

TEST(PercentTest, ValuesOfQueriesAreEncoded) {
  EXPECT_EQ(EncodePercents("shop{host=web 1}"), "shop%7Bhost%3Dweb%201%7D");
  EXPECT_EQ(EncodePercents("a.b_c-d~\xC3\xA9\n"), "a.b_c-d~%C3%A9%0A");
}

TEST(PercentTest, CodesAreDecodedOnce) { EXPECT_EQ(DecodePercents("%2541"), "%41"); }

}  // namespace
}  // namespace jtrace::postproc
