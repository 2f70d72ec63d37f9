// The grid of the page's heatmap: a column is a round time such as a second, and has 50 rows. Its
// cells follow each other in time, upwards and then from left to right.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/numeric/int128.h"
#include "postproc/report/report.h"

namespace jtrace::postproc {

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

}  // namespace jtrace::postproc
