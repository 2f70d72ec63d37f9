#include "postproc/reader/agent_trees.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "postproc/reader/definitions.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

// Delta-coded numbers: each entry adds to the one before, modulo 2^32.
class DeltaDecoder {
 public:
  uint32_t Next(int32_t delta) { return last_ += static_cast<uint32_t>(delta); }

 private:
  uint32_t last_ = 0;
};

// The i-th value of a field that may be empty.
template <typename Repeated>
std::optional<int64_t> CountAt(const Repeated& field, int i) {
  if (i >= field.size()) return std::nullopt;
  return StreamCount(field.Get(i));
}

// New totals replace earlier ones.
void SetMetric(NodeCounts& counts, MetricId name, int64_t total) {
  const int64_t value = std::clamp(total, -StreamTime(~uint64_t{0}), StreamTime(~uint64_t{0}));
  const auto old = std::find_if(counts.metrics.begin(), counts.metrics.end(),
                                [&](const auto& it) { return it.first == name; });
  if (old != counts.metrics.end()) {
    old->second = value;
  } else {
    counts.metrics.emplace_back(name, value);
  }
}

}  // namespace

void AgentTrees::Add(const proto::TreeDelta& delta, TextOf text_of) {
  AddNewNodes(delta);
  AddTotals(delta);
  AddMetrics(delta, text_of);
  AddPruned(delta);
  AddFlat(delta);
  if (delta.folded_threads() != 0) folded_threads_[delta.thread()] = delta.folded_threads();
}

void AgentTrees::AddNewNodes(const proto::TreeDelta& delta) {
  DeltaDecoder ids;
  for (int i = 0; i < delta.new_node_size(); ++i) {
    TreeNode node;
    const uint32_t id = ids.Next(delta.new_node(i));
    node.thread = delta.thread();
    node.parent = i < delta.new_parent_size() ? delta.new_parent(i) : 0;
    node.routine = i < delta.new_routine_size() ? delta.new_routine(i) : 0;
    node.place = i < delta.new_place_size() ? CheckedPlace(delta.new_place(i)) : kNoCallPlace;
    if (node.parent != 0 && !ThreadOf(node.parent).has_value()) {
      NoteUndefined(node.parent);
      node.lost = true;
      node.parent = 0;
    }
    // Never used again, like a dropped node's: otherwise there could be cycles.
    if (id == 0 || dropped_.contains(id)) continue;
    if (nodes_.try_emplace(id, std::move(node)).second) node_order_.push_back(id);
  }
}

void AgentTrees::AddTotals(const proto::TreeDelta& delta) {
  DeltaDecoder ids;
  for (int i = 0; i < delta.node_size(); ++i) {
    const uint32_t id = ids.Next(delta.node(i));
    auto found = nodes_.find(id);
    if (found == nodes_.end()) {
      if (id == 0 || dropped_.contains(id)) continue;
      found = AddLost(id, delta.thread());
    }
    NodeCounts& counts = found->second.counts;
    counts.calls = CountAt(delta.calls(), i).value_or(0);
    if (const auto jitted = CountAt(delta.jitted(), i)) counts.calls_jitted = jitted;
    if (const auto base = CountAt(delta.base_ns(), i)) counts.base = base;
    if (const auto off = CountAt(delta.off_ns(), i)) counts.off = off;
    if (const auto min = CountAt(delta.min_base_ns(), i)) counts.min = min;
    if (const auto max = CountAt(delta.max_base_ns(), i)) counts.max = max;
  }
}

// The chunk with its definition is lost. Its totals are not.
AgentTrees::Nodes::iterator AgentTrees::AddLost(uint32_t id, uint32_t thread) {
  NoteUndefined(id);
  TreeNode node;
  node.thread = thread;
  node.routine = kLostRoutine;
  node_order_.push_back(id);
  return nodes_.try_emplace(id, std::move(node)).first;
}

void AgentTrees::AddMetrics(const proto::TreeDelta& delta, TextOf text_of) {
  for (const proto::NodeMetric& metric : delta.metric()) {
    const MetricId name = model_.InternMetric(text_of(metric.name()));
    DeltaDecoder ids;
    for (int i = 0; i < metric.node_size(); ++i) {
      const uint32_t node = ids.Next(metric.node(i));
      const auto found = nodes_.find(node);
      if ((node != 0 && found == nodes_.end()) || i >= metric.value_size()) continue;
      SetMetric(node == 0 ? RootOf(delta.thread()) : found->second.counts, name, metric.value(i));
    }
  }
}

NodeCounts& AgentTrees::RootOf(uint32_t thread) {
  const auto [entry, inserted] = root_index_.try_emplace(thread, roots_.size());
  if (inserted) roots_.push_back({thread, {}});
  return roots_[entry->second].counts;
}

void AgentTrees::AddFlat(const proto::TreeDelta& delta) {
  DeltaDecoder ids;
  for (int i = 0; i < delta.routine_size(); ++i) {
    const uint32_t routine = ids.Next(delta.routine(i));
    auto [entry, inserted] = flat_index_.try_emplace({delta.thread(), routine}, flat_.size());
    if (inserted) flat_.push_back({delta.thread(), routine, 0, 0});
    FlatCount& count = flat_[entry->second];
    if (i < delta.routine_calls_size()) count.calls = delta.routine_calls(i);
    if (i < delta.routine_jitted_size()) count.jitted = delta.routine_jitted(i);
  }
}

void AgentTrees::AddPruned(const proto::TreeDelta& delta) {
  DeltaDecoder ids;
  for (const int32_t step : delta.pruned_node()) {
    const uint32_t id = ids.Next(step);
    const auto found = nodes_.find(id);
    if (found == nodes_.end()) {
      if (!dropped_.contains(id)) NoteUndefined(id);
      continue;
    }
    dropped_[id] = {found->second.thread, found->second.parent};
    nodes_.erase(found);
  }
  constexpr size_t kFew = 1 << 16;
  if (node_order_.size() > 2 * nodes_.size() + kFew) RemoveDropped();
}

void AgentTrees::RemoveDropped() {
  std::erase_if(node_order_, [this](uint32_t node) { return !nodes_.contains(node); });
}

const std::vector<uint32_t>& AgentTrees::node_order() {
  if (node_order_.size() != nodes_.size()) RemoveDropped();
  return node_order_;
}

std::vector<AgentTrees::Visit> AgentTrees::DepthFirst() {
  const std::vector<uint32_t>& nodes = node_order();
  absl::flat_hash_map<uint32_t, std::vector<uint32_t>> children;
  absl::flat_hash_map<uint32_t, std::vector<uint32_t>> tops;  // by thread
  std::vector<uint32_t> threads;
  for (const uint32_t node : nodes) {
    const TreeNode& it = *FindNode(node);
    if (const uint32_t parent = KeptNode(it.parent); parent != 0) {
      children[parent].push_back(node);
      continue;
    }
    const auto [top, is_first] = tops.try_emplace(it.thread);
    if (is_first) threads.push_back(it.thread);
    top->second.push_back(node);
  }
  std::vector<Visit> visits;
  visits.reserve(nodes.size());
  std::vector<Visit> next;
  const auto push = [&next](const std::vector<uint32_t>& siblings, uint32_t level) {
    for (size_t i = siblings.size(); i-- > 0;) next.push_back({siblings[i], level});
  };
  for (const uint32_t thread : threads) {
    push(tops[thread], 0);
    while (!next.empty()) {
      const Visit visit = next.back();
      next.pop_back();
      visits.push_back(visit);
      if (const auto below = children.find(visit.node); below != children.end()) {
        push(below->second, visit.level + 1);
      }
    }
  }
  return visits;
}

void AgentTrees::NoteUndefined(uint32_t node) {
  stats_.Add(Problem::kUndefinedReference,
             stats_.WantsDetail() ? StrCat("node ", node, " was never defined") : std::string());
}

const TreeNode* AgentTrees::FindNode(uint32_t node) const {
  const auto found = nodes_.find(node);
  return found == nodes_.end() ? nullptr : &found->second;
}

uint32_t AgentTrees::KeptNode(uint32_t node) {
  uint32_t kept = node;
  for (auto it = dropped_.find(kept); it != dropped_.end(); it = dropped_.find(kept)) {
    kept = it->second.parent;
  }
  // Shortens the next search along this path.
  for (auto it = dropped_.find(node); it != dropped_.end(); it = dropped_.find(node)) {
    node = std::exchange(it->second.parent, kept);
  }
  return kept;
}

std::optional<uint32_t> AgentTrees::ThreadOf(uint32_t node) const {
  if (const TreeNode* known = FindNode(node); known != nullptr) return known->thread;
  const auto found = dropped_.find(node);
  if (found == dropped_.end()) return std::nullopt;
  return found->second.thread;
}

uint64_t AgentTrees::FoldedThreads(uint32_t thread) const {
  const auto found = folded_threads_.find(thread);
  return found == folded_threads_.end() ? 0 : found->second;
}

uint64_t AgentTrees::TotalCalls() const {
  uint64_t calls = 0;
  for (const auto& [id, node] : nodes_) {
    calls += static_cast<uint64_t>(node.counts.calls.value_or(0));
  }
  for (const FlatCount& count : flat_) calls += count.calls;
  return calls;
}

}  // namespace jtrace::postproc
