#include "postproc/page/page_times.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace jtrace::postproc {
namespace {

struct Sum {
  uint32_t node = 0;  // of the page
  uint32_t bucket = 0;
  int64_t ticks = 0;
};

// By node of the tree: its index in the page, or that of the [pruned] node that has its numbers.
std::vector<uint32_t> PageNodes(const ReportInput& input, const PageTree& page) {
  std::vector<uint32_t> kept(input.tree.size());
  std::vector<uint32_t> pruned(input.tree.size());
  for (uint32_t i = 0; i < page.nodes().size(); ++i) {
    const PageNode& node = page.nodes()[i];
    (node.is_pruned ? pruned : kept)[node.source.value - 1] = i;
  }
  std::vector<uint32_t> nodes(input.tree.size());
  for (uint32_t i = 0; i < nodes.size(); ++i) {
    const NodeId keeper = page.keeper(NodeId(i + 1));
    nodes[i] = keeper.value == i + 1 ? kept[i] : pruned[keeper.value - 1];
  }
  return nodes;
}

// Sums of neighbours that are equal but for their ticks.
void Merge(std::vector<Sum>& sums) {
  std::sort(sums.begin(), sums.end(), [](const Sum& a, const Sum& b) {
    return a.node != b.node ? a.node < b.node : a.bucket < b.bucket;
  });
  size_t used = 0;
  for (const Sum& sum : sums) {
    Sum* const last = used == 0 ? nullptr : &sums[used - 1];
    if (last != nullptr && last->node == sum.node && last->bucket == sum.bucket) {
      last->ticks = WrapAdd(last->ticks, sum.ticks);
    } else {
      sums[used++] = sum;
    }
  }
  sums.resize(used);
}

std::vector<Sum> SumsByCell(const ReportInput& input, const PageTree& page, const TimeGrid& grid) {
  const std::vector<uint32_t> nodes = PageNodes(input, page);
  std::vector<Sum> sums;
  for (size_t i = 0; i < input.samples.samples().size(); ++i) {
    const LoggedSample& sample = input.samples.samples()[i];
    const NodeId ticked = input.tree.ticked()[i];
    if (!ticked) continue;
    const auto cell = static_cast<uint32_t>(grid.CellAt(sample.time));
    sums.push_back({nodes[ticked.value - 1], cell, sample.weight});
  }
  Merge(sums);
  return sums;
}

// Of a column's 50 cells: 2, 10, 50, and then columns.
size_t NextWidth(size_t cells) { return cells == 2 || cells == 10 ? cells * 5 : cells * 2; }

// Makes buckets wider until the limits hold; returns the cells in one.
size_t Widen(std::vector<Sum>& sums, size_t cells, const PageTimeLimits& limits) {
  size_t width = 1;
  const auto count = [&] { return (cells + width - 1) / width; };
  while ((sums.size() > limits.many_sums && count() > kFewPageTimes) ||
         (sums.size() > limits.max_sums && count() > 1)) {
    const size_t next = NextWidth(width);
    for (Sum& sum : sums) sum.bucket = static_cast<uint32_t>(sum.bucket / (next / width));
    width = next;
    Merge(sums);
  }
  return width;
}

void WriteHeat(const std::vector<Sum>& sums, const TimeGrid& grid, JsonWriter& json) {
  std::vector<int64_t> ticks(grid.cells());
  for (const Sum& sum : sums) ticks[sum.bucket] = WrapAdd(ticks[sum.bucket], sum.ticks);
  json.Key("heat");
  json.BeginObject();
  json.Int("start", grid.start());
  json.Int("width", grid.cell_width());
  json.Int("rows", TimeGrid::kRows);
  json.Column("ticks", ticks, [](int64_t each) { return each; });
  json.EndObject();
}

}  // namespace

void WritePageTimes(const ReportInput& input, const PageTree& page, const PageTimeLimits& limits,
                    JsonWriter& json) {
  const size_t samples = input.samples.samples().size();
  if (samples == 0 || input.timeline.size() == 0 || input.tree.ticked().size() != samples) return;
  const int64_t ns = NanosecondsPer(input.model.unit());
  const TimeGrid grid(input.timeline, ns == 0 ? 0 : 1'000'000'000 / ns);
  std::vector<Sum> sums = SumsByCell(input, page, grid);
  WriteHeat(sums, grid, json);
  const size_t width = Widen(sums, grid.cells(), limits);
  json.Key("times");
  json.BeginObject();
  json.Int("cells", static_cast<int64_t>(width));
  json.Int("count", static_cast<int64_t>((grid.cells() + width - 1) / width));
  // Differences, which pack better.
  uint32_t before = 0;
  json.List("node", sums, [&](const Sum& sum) {
    json.Int(sum.node - before);
    before = sum.node;
  });
  json.Column("bucket", sums, [](const Sum& sum) { return sum.bucket; });
  json.Column("ticks", sums, [](const Sum& sum) { return sum.ticks; });
  json.EndObject();
}

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
