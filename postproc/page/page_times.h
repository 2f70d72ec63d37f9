// When samples were taken, by node: for pictures of a part of the run.
#pragma once

#include <cstddef>

#include "common/json_writer.h"
#include "postproc/page/page_tree.h"
#include "postproc/report/report.h"

namespace jtrace::postproc {

// With more sums of a node in a bucket, buckets are wider than the heatmap's cells, but not so that
// there are fewer of them than kFewPageTimes; with more than kMaxPageTimeSums as wide as necessary.
inline constexpr size_t kFewPageTimes = 128;
inline constexpr size_t kManyPageTimeSums = 100'000;
inline constexpr size_t kMaxPageTimeSums = 400'000;

struct PageTimeLimits {
  size_t many_sums = kManyPageTimeSums;
  size_t max_sums = kMaxPageTimeSums;
};

// The members "heat", ticks by cell of a TimeGrid, and "times": ticks of the page's nodes in
// buckets, each as wide as some cells. Nothing if the tree does not know where samples ticked.
void WritePageTimes(const ReportInput& input, const PageTree& page, const PageTimeLimits& limits,
                    JsonWriter& json);

}  // namespace jtrace::postproc
