// The widths of the arcs of a call graph: the "river of time" (S4.11). T is the share, from 0 to 1,
// of the whole that flows through an arc: self and descendants. Widths are in pixels.
// postproc/web/src/graph/arc_width.ts computes the same.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/types/span.h"

namespace jtrace::postproc {

enum class ArcWidths : uint8_t {
  kNone,         // 1
  kLinear,       // ⌈10·T⌉, from 1 to 10
  kLogarithmic,  // min(9, max(1, log2(1000·T + .0001)))
  kAdaptive,     // from 1 for the least T shown to 10 for T = 1, by log T
};

// "none", "linear", …, in the order of the enumeration.
absl::Span<const std::string_view> ArcWidthNames();
std::optional<ArcWidths> ParseArcWidths(std::string_view name);

// `least`: the smallest T above 0 of all arcs shown; only for kAdaptive.
double ArcWidth(ArcWidths widths, double t, double least);

}  // namespace jtrace::postproc
