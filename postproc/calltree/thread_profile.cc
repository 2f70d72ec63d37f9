#include "postproc/calltree/thread_profile.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"

namespace jtrace::postproc {
namespace {

void Sort(const TraceModel& model, bool by_measure, std::vector<ThreadRow>& rows) {
  const auto less = [&](const ThreadRow& row_a, const ThreadRow& row_b) {
    const FlatRow& a = row_a.sums;
    const FlatRow& b = row_b.sums;
    if (by_measure && a.measure.base != b.measure.base) return a.measure.base > b.measure.base;
    if (std::tie(a.base_ticks, a.base, a.calls) != std::tie(b.base_ticks, b.base, b.calls)) {
      return std::tie(a.base_ticks, a.base, a.calls) > std::tie(b.base_ticks, b.base, b.calls);
    }
    const std::string& thread_a = model.thread(row_a.thread).name;
    const std::string& thread_b = model.thread(row_b.thread).name;
    return std::tie(thread_a, a.name, a.is_root) < std::tie(thread_b, b.name, b.is_root);
  };
  std::stable_sort(rows.begin(), rows.end(), less);
}

}  // namespace

std::vector<ThreadRow> ThreadProfile(const TraceModel& model, const CallTree& tree,
                                     const TreeTotals& totals, const Measure& measure) {
  std::vector<ThreadRow> rows;
  std::vector<ThreadId> threads(tree.size());  // by node; parents come first
  absl::flat_hash_map<std::pair<uint32_t, uint32_t>, uint32_t> places;
  const std::vector<bool> below_pruned = FindBelowPruned(model, tree);
  for (uint32_t i = 0; i < tree.size(); ++i) {
    const CallNode& node = tree.node(NodeId(i + 1));
    threads[i] = node.parent ? threads[node.parent.value - 1] : node.thread;
    const auto [place, is_new] = places.try_emplace({threads[i].value, node.routine.value},
                                                    static_cast<uint32_t>(rows.size()));
    if (is_new) {
      FlatRow sums;
      sums.name = node.routine ? model.RoutineName(node.routine) : model.thread(node.thread).name;
      sums.is_root = !node.routine;
      sums.routine = node.routine;
      rows.push_back({threads[i], sums});
    }
    rows[place->second].sums.Add(NodeId(i + 1), node, totals[i], measure);
    if (!below_pruned.empty() && below_pruned[i]) rows[place->second].sums.has_bounds = true;
  }
  Sort(model, measure.is_chosen, rows);
  return rows;
}

}  // namespace jtrace::postproc
