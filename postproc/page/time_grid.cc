#include "postproc/page/time_grid.h"

#include <algorithm>

namespace jtrace::postproc {
namespace {

// 50, 100, 200, 500 and so on, so that each row is a whole number.
absl::int128 RoundColumn(absl::int128 extent, int64_t second) {
  absl::int128 column = TimeGrid::kRows;
  for (int digit = 5;; digit = digit == 5 ? 1 : digit == 1 ? 2 : 5) {
    const bool is_short = second == 0 || column < second;
    const size_t most = is_short ? TimeGrid::kMostShortColumns : TimeGrid::kMostColumns;
    if (column * most >= extent) return column;
    column = digit == 2 ? column / 2 * 5 : column * 2;
  }
}

}  // namespace

TimeGrid::TimeGrid(const Timeline& timeline, int64_t second) : start_(timeline.start()) {
  const absl::int128 extent = absl::int128(timeline.width()) * timeline.size();
  cell_ = RoundColumn(extent, second) / kRows;
  cells_ = static_cast<size_t>((extent + cell_ - 1) / cell_);
}

size_t TimeGrid::CellAt(int64_t time) const {
  const absl::int128 cell = (absl::int128(time) - start_) / cell_;
  return static_cast<size_t>(std::clamp<absl::int128>(cell, 0, cells_ - 1));
}

}  // namespace jtrace::postproc
