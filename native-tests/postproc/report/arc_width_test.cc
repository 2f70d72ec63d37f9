// The widths against values computed by hand (S4.11, S4.15). The page's tests have the same table.
#include "postproc/report/arc_width.h"

#include <gtest/gtest.h>

namespace jtrace::postproc {
namespace {

TEST(ArcWidthTest, NoneIsOnePixel) {
  EXPECT_EQ(ArcWidth({ArcCurve::kNone}, 0, 0.5), 1);
  EXPECT_EQ(ArcWidth({ArcCurve::kNone}, 1, 0.5), 1);
}

TEST(ArcWidthTest, LinearRoundsUpToTenths) {
  const auto width = [](double t) { return ArcWidth({ArcCurve::kLinear}, t, 1); };
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
  const auto width = [](double t) { return ArcWidth({ArcCurve::kLogarithmic}, t, 1); };
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
    return ArcWidth({ArcCurve::kAdaptive}, t, least);
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

TEST(ArcWidthTest, ExponentialIsBetweenOneAndEight) {
  const auto width = [](double t) { return ArcWidth({ArcCurve::kExponential}, t, 1); };
  EXPECT_EQ(width(0), 1);
  EXPECT_NEAR(width(0.01), 1.1094518, 1e-6);  // 12 - 11 / e^0.01
  EXPECT_NEAR(width(0.1), 2.0467884, 1e-6);
  EXPECT_NEAR(width(0.5), 5.3281627, 1e-6);
  EXPECT_NEAR(width(1), 7.9533261, 1e-6);  // 12 - 11 / e
}

const ArcWidths kTable = {ArcCurve::kTable, {{0.01, 2}, {0.1, 5.5}, {0.5, 9}}};

TEST(ArcWidthTest, ATableHasSteps) {
  const auto width = [](double t) { return ArcWidth(kTable, t, 1); };
  EXPECT_EQ(width(0), 1);  // below its first step
  EXPECT_EQ(width(0.0099), 1);
  EXPECT_EQ(width(0.01), 2);
  EXPECT_EQ(width(0.0999), 2);
  EXPECT_EQ(width(0.1), 5.5);
  EXPECT_EQ(width(0.4999), 5.5);
  EXPECT_EQ(width(0.5), 9);
  EXPECT_EQ(width(1), 9);
}

TEST(ArcWidthTest, TablesArePercentAndPixels) {
  EXPECT_EQ(ParseArcWidths("1:2,10:5.5,50:9"), kTable);
  EXPECT_EQ(ParseArcWidths("0:3"), (ArcWidths{ArcCurve::kTable, {{0, 3}}}));
  for (const char* bad : {"", "1", "1:", ":2", "1:2,", "1:0", "1:-2", "101:2", "-1:2", "1:101",
                          "10:2,1:3", "1:2,1:3", "1:nan", "table", "1:2;10:5"}) {
    EXPECT_EQ(ParseArcWidths(bad), std::nullopt) << bad;
  }
}

TEST(ArcWidthTest, MoreTimeIsNeverNarrower) {
  for (const ArcWidths& widths :
       {ArcWidths{ArcCurve::kLinear}, ArcWidths{ArcCurve::kLogarithmic},
        ArcWidths{ArcCurve::kAdaptive}, ArcWidths{ArcCurve::kExponential}, kTable}) {
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
  EXPECT_EQ(ParseArcWidths("none"), ArcWidths{ArcCurve::kNone});
  EXPECT_EQ(ParseArcWidths("linear"), ArcWidths{ArcCurve::kLinear});
  EXPECT_EQ(ParseArcWidths("logarithmic"), ArcWidths{ArcCurve::kLogarithmic});
  EXPECT_EQ(ParseArcWidths("adaptive"), ArcWidths{ArcCurve::kAdaptive});
  EXPECT_EQ(ParseArcWidths("exponential"), ArcWidths{ArcCurve::kExponential});
  EXPECT_EQ(ParseArcWidths("wide"), std::nullopt);
}

}  // namespace
}  // namespace jtrace::postproc
