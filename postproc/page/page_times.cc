#include "postproc/page/page_times.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/numeric/int128.h"
#include "postproc/calltree/timeline.h"

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

std::vector<Sum> SumsByBucket(const ReportInput& input, const PageTree& page, size_t width) {
  const std::vector<uint32_t> nodes = PageNodes(input, page);
  const absl::int128 bucket_width = absl::int128(input.timeline.width()) * width;
  const size_t last = (input.timeline.size() - 1) / width;
  std::vector<Sum> sums;
  for (size_t i = 0; i < input.samples.samples().size(); ++i) {
    const LoggedSample& sample = input.samples.samples()[i];
    const NodeId ticked = input.tree.ticked()[i];
    if (!ticked) continue;
    // Of absurd times, which the timeline clamps, too.
    const absl::int128 bucket = (absl::int128(sample.time) - input.timeline.start()) / bucket_width;
    const auto clamped = static_cast<uint32_t>(std::clamp<absl::int128>(bucket, 0, last));
    sums.push_back({nodes[ticked.value - 1], clamped, sample.weight});
  }
  Merge(sums);
  return sums;
}

}  // namespace

void WritePageTimes(const ReportInput& input, const PageTree& page, size_t max_sums,
                    JsonWriter& json) {
  const size_t buckets = input.timeline.size();
  const size_t samples = input.samples.samples().size();
  if (samples == 0 || buckets == 0 || input.tree.ticked().size() != samples) return;
  size_t width = (buckets + kMaxPageTimes - 1) / kMaxPageTimes;
  std::vector<Sum> sums = SumsByBucket(input, page, width);
  while (sums.size() > max_sums && width < buckets) {
    width *= 2;
    for (Sum& sum : sums) sum.bucket /= 2;
    Merge(sums);
  }
  json.Key("times");
  json.BeginObject();
  json.Int("width", static_cast<int64_t>(width));
  json.Int("count", static_cast<int64_t>((buckets + width - 1) / width));
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

}  // namespace jtrace::postproc
