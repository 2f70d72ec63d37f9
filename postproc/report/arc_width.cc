#include "postproc/report/arc_width.h"

#include <algorithm>
#include <cmath>

#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

constexpr std::string_view kNames[] = {"none", "linear", "logarithmic", "adaptive", "exponential"};
constexpr double kMostPixels = 100;
constexpr double kGreatest = 10;
// The error that a quotient such as 3/10 may have when it is multiplied by 10.
constexpr double kRounding = 1e-9;

double Linear(double t) { return std::clamp(std::ceil(kGreatest * t - kRounding), 1.0, kGreatest); }

double Logarithmic(double t) { return std::min(9.0, std::max(1.0, std::log2(1000 * t + .0001))); }

double Adaptive(double t, double least) {
  if (t >= 1) return kGreatest;
  if (least <= 0 || t <= least) return 1;
  return 1 + (kGreatest - 1) * (1 - std::log(t) / std::log(least));
}

double OfTable(absl::Span<const WidthStep> steps, double t) {
  double width = 1;
  for (const WidthStep& step : steps) {
    if (t >= step.from) width = step.width;
  }
  return width;
}

std::optional<WidthStep> ParseStep(std::string_view text) {
  const size_t colon = text.find(':');
  double percent = 0;
  double width = 0;
  if (colon == std::string_view::npos || !ParseDouble(text.substr(0, colon), percent) ||
      !ParseDouble(text.substr(colon + 1), width) || !(percent >= 0 && percent <= 100) ||
      !(width > 0 && width <= kMostPixels)) {
    return std::nullopt;
  }
  return WidthStep{percent / 100, width};
}

}  // namespace

absl::Span<const std::string_view> ArcCurveNames() { return kNames; }

std::optional<ArcWidths> ParseArcWidths(std::string_view text) {
  const auto found = std::find(std::begin(kNames), std::end(kNames), text);
  if (found != std::end(kNames)) {
    return ArcWidths{static_cast<ArcCurve>(found - std::begin(kNames))};
  }
  ArcWidths table{ArcCurve::kTable};
  for (const std::string_view part : Split(text, ',')) {
    const std::optional<WidthStep> step = ParseStep(part);
    if (!step.has_value()) return std::nullopt;
    if (!table.steps.empty() && step->from <= table.steps.back().from) return std::nullopt;
    table.steps.push_back(*step);
  }
  return table;
}

double ArcWidth(const ArcWidths& widths, double t, double least) {
  switch (widths.curve) {
    case ArcCurve::kNone:
      return 1;
    case ArcCurve::kLinear:
      return Linear(t);
    case ArcCurve::kLogarithmic:
      return Logarithmic(t);
    case ArcCurve::kAdaptive:
      return Adaptive(t, least);
    case ArcCurve::kExponential:
      return 12 - 11 * std::exp(-t);
    case ArcCurve::kTable:
      return OfTable(widths.steps, t);
  }
  return 1;
}

}  // namespace jtrace::postproc
