// When samples were taken, by node: for pictures of a part of the run.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/numeric/int128.h"
#include "common/json_writer.h"
#include "postproc/page/page_tree.h"
#include "postproc/report/report.h"

namespace jtrace::postproc {

// The grid of the page's heatmap: a column is a round time such as a second, and has 50 rows. Its
// cells follow each other in time, upwards and then from left to right.
class TimeGrid {
 public:
  static constexpr size_t kRows = 50;
  // A column is the shortest round time of which no more are needed: below a second these, else
  // those.
  static constexpr size_t kMostShortColumns = 60;
  static constexpr size_t kMostColumns = 300;

  // Of the timeline's buckets, which are not empty. `second`: in units of time; 0: unknown.
  TimeGrid(const Timeline& timeline, int64_t second);

  int64_t start() const { return start_; }
  int64_t cell_width() const { return static_cast<int64_t>(cell_); }
  size_t cells() const { return cells_; }
  // Times outside, which the timeline clamps, are in the first or last cell.
  size_t CellAt(int64_t time) const;

 private:
  int64_t start_;
  absl::int128 cell_;
  size_t cells_;
};

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
