// The source files of a page, with counts of their lines.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/functional/function_ref.h"
#include "common/json_writer.h"
#include "postproc/report/report.h"

namespace jtrace::postproc {

// The most bytes of source text in a page, and the most lines with counts. Files with the most
// executed instructions come first; of others the page has their coverage.
inline constexpr size_t kMaxPageText = 4 << 20;
inline constexpr size_t kMaxPageLines = 200'000;

struct PageSourceLimits {
  size_t text = kMaxPageText;
  size_t lines = kMaxPageLines;
};

// The member "sources". `number_of` is the page's number of a routine; -1: it has none. Only files
// of which something ran have lines.
void WritePageSources(const ReportInput& input, const PageSourceLimits& limits,
                      absl::FunctionRef<int64_t(RoutineId)> number_of, JsonWriter& json);

}  // namespace jtrace::postproc
