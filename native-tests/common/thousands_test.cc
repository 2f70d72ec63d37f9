#include "common/thousands.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace jtrace {
namespace {

TEST(ThousandsTest, GroupsDigitsByThree) {
  EXPECT_EQ(WithThousands(0), "0");
  EXPECT_EQ(WithThousands(999), "999");
  EXPECT_EQ(WithThousands(1'000), "1,000");
  EXPECT_EQ(WithThousands(uint64_t{18'446'744'073'709'551'615u}), "18,446,744,073,709,551,615");
}

TEST(ThousandsTest, SignsAreNotDigits) {
  EXPECT_EQ(WithThousands(-1), "-1");
  EXPECT_EQ(WithThousands(-999), "-999");
  EXPECT_EQ(WithThousands(-123'456), "-123,456");
  EXPECT_EQ(WithThousands(INT64_MIN), "-9,223,372,036,854,775,808");
}

}  // namespace
}  // namespace jtrace
