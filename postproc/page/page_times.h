// When samples were taken, by node: for pictures of a part of the run.
#pragma once

#include <cstddef>

#include "common/json_writer.h"
#include "postproc/page/page_tree.h"
#include "postproc/report/report.h"

namespace jtrace::postproc {

// Buckets, and sums of a node in a bucket: with more sums buckets are wider.
inline constexpr size_t kMaxPageTimes = 128;
inline constexpr size_t kMaxPageTimeSums = 400'000;

// The member "times": ticks of the page's nodes in buckets of time, each as wide as some of the
// timeline's. Nothing if the tree does not know where samples ticked (--outside=caller).
void WritePageTimes(const ReportInput& input, const PageTree& page, size_t max_sums,
                    JsonWriter& json);

}  // namespace jtrace::postproc
