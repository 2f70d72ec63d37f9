#include "postproc/report/arc_width.h"

#include <algorithm>
#include <cmath>

namespace jtrace::postproc {
namespace {

constexpr std::string_view kNames[] = {"none", "linear", "logarithmic", "adaptive"};
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

}  // namespace

absl::Span<const std::string_view> ArcWidthNames() { return kNames; }

std::optional<ArcWidths> ParseArcWidths(std::string_view name) {
  const auto found = std::find(std::begin(kNames), std::end(kNames), name);
  if (found == std::end(kNames)) return std::nullopt;
  return static_cast<ArcWidths>(found - std::begin(kNames));
}

double ArcWidth(ArcWidths widths, double t, double least) {
  switch (widths) {
    case ArcWidths::kNone:
      return 1;
    case ArcWidths::kLinear:
      return Linear(t);
    case ArcWidths::kLogarithmic:
      return Logarithmic(t);
    case ArcWidths::kAdaptive:
      return Adaptive(t, least);
  }
  return 1;
}

}  // namespace jtrace::postproc
