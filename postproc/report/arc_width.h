// The widths of the arcs of a call graph: the "river of time" (S4.11, S4.15). T is the share, from
// 0 to 1, of the whole that flows through an arc: self and descendants, or self. Widths are in
// pixels. postproc/web/src/graph/arc_width.ts computes the same.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/types/span.h"

namespace jtrace::postproc {

// How a width follows from T.
enum class ArcCurve : uint8_t {
  kNone,         // 1
  kLinear,       // ⌈10·T⌉, from 1 to 10
  kLogarithmic,  // min(9, max(1, log2(1000·T + .0001)))
  kAdaptive,     // from 1 for the least T shown to 10 for T = 1, by log T
  kExponential,  // 12 - 11·e^-T: from 1 to 8
  kTable,        // the user's steps
};

// Arcs have this width from that share on.
struct WidthStep {
  double from = 0;  // T
  double width = 1;
  friend bool operator==(const WidthStep&, const WidthStep&) = default;
};

// A curve, with its steps if it is a table.
struct ArcWidths {
  ArcCurve curve = ArcCurve::kAdaptive;
  std::vector<WidthStep> steps = {};  // by `from`; below the first one: 1
  friend bool operator==(const ArcWidths&, const ArcWidths&) = default;
};

// "none", "linear", …: the curves that have names.
absl::Span<const std::string_view> ArcCurveNames();
// Such a name, or a table: "1:2,10:5,50:9", percent and pixels.
std::optional<ArcWidths> ParseArcWidths(std::string_view text);

// `least`: the smallest T above 0 of all arcs shown; only for kAdaptive.
double ArcWidth(const ArcWidths& widths, double t, double least);

}  // namespace jtrace::postproc
