// The four widths against values computed by hand (S4.11). The page's tests have the same table.
#include "postproc/report/arc_width.h"

#include <gtest/gtest.h>

namespace jtrace::postproc {
namespace {

TEST(ArcWidthTest, NoneIsOnePixel) {
  EXPECT_EQ(ArcWidth(ArcWidths::kNone, 0, 0.5), 1);
  EXPECT_EQ(ArcWidth(ArcWidths::kNone, 1, 0.5), 1);
}

TEST(ArcWidthTest, LinearRoundsUpToTenths) {
  const auto width = [](double t) { return ArcWidth(ArcWidths::kLinear, t, 1); };
  EXPECT_EQ(width(0), 1);
  EXPECT_EQ(width(0.001), 1);
  EXPECT_EQ(width(0.1), 1);
  EXPECT_EQ(width(0.1001), 2);
  EXPECT_EQ(width(0.5), 5);
  EXPECT_EQ(width(0.928), 10);
  EXPECT_EQ(width(1), 10);
  for (int tenths = 1; tenths <= 10; ++tenths) EXPECT_EQ(width(tenths / 10.0), tenths);
}

TEST(ArcWidthTest, LogarithmicIsBetweenOneAndNine) {
  const auto width = [](double t) { return ArcWidth(ArcWidths::kLogarithmic, t, 1); };
  EXPECT_EQ(width(0), 1);
  EXPECT_EQ(width(0.001), 1);
  EXPECT_NEAR(width(0.004), 2.0000361, 1e-6);  // log2(4.0001)
  EXPECT_NEAR(width(0.01), 3.3219425, 1e-6);   // log2(10.0001)
  EXPECT_NEAR(width(0.064), 6.0000023, 1e-6);  // log2(64.0001)
  EXPECT_NEAR(width(0.1), 6.6438576, 1e-6);    // log2(100.0001)
  EXPECT_NEAR(width(0.5), 8.9657846, 1e-6);    // log2(500.0001)
  EXPECT_EQ(width(0.512), 9);
  EXPECT_EQ(width(1), 9);
}

TEST(ArcWidthTest, AdaptiveGoesFromTheLeastToTheWhole) {
  const auto width = [](double t, double least) {
    return ArcWidth(ArcWidths::kAdaptive, t, least);
  };
  EXPECT_EQ(width(0.01, 0.01), 1);
  EXPECT_NEAR(width(0.1, 0.01), 5.5, 1e-9);  // half the way, by the logarithm
  EXPECT_EQ(width(1, 0.01), 10);
  EXPECT_NEAR(width(0.5, 0.25), 5.5, 1e-9);
  EXPECT_NEAR(width(0.01, 0.001), 4, 1e-9);
  EXPECT_NEAR(width(0.1, 0.001), 7, 1e-9);
  EXPECT_EQ(width(0, 0.01), 1);  // costs nothing
  EXPECT_EQ(width(1, 1), 10);    // one arc
  EXPECT_EQ(width(0, 1), 1);     // none that costs anything
}

TEST(ArcWidthTest, MoreTimeIsNeverNarrower) {
  for (const ArcWidths widths :
       {ArcWidths::kLinear, ArcWidths::kLogarithmic, ArcWidths::kAdaptive}) {
    double last = 1;
    for (int i = 0; i <= 1000; ++i) {
      const double width = ArcWidth(widths, i / 1000.0, 0.002);
      EXPECT_GE(width, last) << i;
      EXPECT_LE(width, 10) << i;
      last = width;
    }
  }
}

TEST(ArcWidthTest, WidthsHaveNames) {
  EXPECT_EQ(ParseArcWidths("none"), ArcWidths::kNone);
  EXPECT_EQ(ParseArcWidths("linear"), ArcWidths::kLinear);
  EXPECT_EQ(ParseArcWidths("logarithmic"), ArcWidths::kLogarithmic);
  EXPECT_EQ(ParseArcWidths("adaptive"), ArcWidths::kAdaptive);
  EXPECT_EQ(ParseArcWidths("wide"), std::nullopt);
}

}  // namespace
}  // namespace jtrace::postproc
