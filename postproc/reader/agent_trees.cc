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
void SetMetric(NodeMetrics& metrics, MetricId name, int64_t total) {
  const int64_t value = std::clamp(total, -StreamTime(~uint64_t{0}), StreamTime(~uint64_t{0}));
  const auto old = std::find_if(metrics.begin(), metrics.end(),
                                [&](const auto& it) { return it.first == name; });
  if (old != metrics.end()) {
    old->second = value;
  } else {
    metrics.emplace_back(name, value);
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

uint32_t AgentTrees::Append(uint32_t id, const TreeNode& node) {
  const auto rank = static_cast<uint32_t>(ids_.size());
  rank_of_.Add(id, rank);
  ids_.push_back(id);
  threads_.push_back(node.thread);
  parents_.push_back(node.parent == 0 ? kNone : rank_of_.Find(node.parent));
  routines_.push_back(node.routine);
  flags_.push_back(node.lost ? kIsLost : 0);
  if (node.place != kNoCallSite) {
    places_.resize(rank + size_t{1}, kNoCallSite);
    places_[rank] = node.place;
  }
  return rank;
}

void AgentTrees::AddNewNodes(const proto::TreeDelta& delta) {
  DeltaDecoder ids;
  TreeNode node;
  for (int i = 0; i < delta.new_node_size(); ++i) {
    const uint32_t id = ids.Next(delta.new_node(i));
    node.thread = delta.thread();
    node.parent = i < delta.new_parent_size() ? delta.new_parent(i) : 0;
    node.routine = i < delta.new_routine_size() ? delta.new_routine(i) : 0;
    node.place = i < delta.new_place_size() ? CheckedCallSite(delta.new_place(i)) : kNoCallSite;
    node.lost = node.parent != 0 && rank_of_.Find(node.parent) == kNone;
    if (node.lost) {
      NoteUndefined(node.parent);
      node.parent = 0;
    }
    // A number is never used again, even if its node was dropped: otherwise there could be cycles.
    if (id != 0 && rank_of_.Find(id) == kNone) Append(id, node);
  }
}

void AgentTrees::AddTotals(const proto::TreeDelta& delta) {
  DeltaDecoder ids;
  const auto set = [](NarrowColumn& column, uint32_t rank, const auto& field, int i) {
    if (const auto value = CountAt(field, i)) column.Set(rank, *value);
  };
  for (int i = 0; i < delta.node_size(); ++i) {
    const uint32_t id = ids.Next(delta.node(i));
    if (id == 0) continue;
    uint32_t rank = rank_of_.Find(id);
    if (rank == kNone) {
      // The chunk with its definition is lost. Its totals are not.
      NoteUndefined(id);
      TreeNode node;
      node.thread = delta.thread();
      node.routine = kLostRoutine;
      rank = Append(id, node);
    }
    if (IsDropped(rank)) continue;
    calls_.Set(rank, CountAt(delta.calls(), i).value_or(0));
    set(jitted_, rank, delta.jitted(), i);
    set(base_, rank, delta.base_ns(), i);
    set(off_, rank, delta.off_ns(), i);
    set(min_, rank, delta.min_base_ns(), i);
    set(max_, rank, delta.max_base_ns(), i);
  }
}

void AgentTrees::AddMetrics(const proto::TreeDelta& delta, TextOf text_of) {
  for (const proto::NodeMetric& metric : delta.metric()) {
    const MetricId name = model_.InternMetric(text_of(metric.name()));
    DeltaDecoder ids;
    for (int i = 0; i < metric.node_size(); ++i) {
      const uint32_t node = ids.Next(metric.node(i));
      if (i >= metric.value_size()) continue;
      const uint32_t rank = rank_of_.Find(node);
      if (node == 0) {
        SetMetric(RootOf(delta.thread()).metrics, name, metric.value(i));
      } else if (rank != kNone && !IsDropped(rank)) {
        SetMetric(metrics_[rank], name, metric.value(i));
      }
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
    const uint32_t rank = rank_of_.Find(id);
    if (rank == kNone) {
      NoteUndefined(id);
      continue;
    }
    flags_[rank] |= kIsDropped;
    metrics_.erase(rank);
  }
}

std::vector<uint32_t> AgentTrees::node_order() const {
  std::vector<uint32_t> nodes;
  for (uint32_t rank = 0; rank < ids_.size(); ++rank) {
    if (!IsDropped(rank)) nodes.push_back(ids_[rank]);
  }
  return nodes;
}

// Parents come first: where they are resolved, the way up is one step.
void AgentTrees::SkipDropped() {
  for (uint32_t& parent : parents_) {
    if (parent != kNone && IsDropped(parent)) parent = parents_[parent];
  }
}

struct AgentTrees::Lists {
  std::vector<uint32_t> first;  // child
  std::vector<uint32_t> next;   // sibling
  std::vector<uint32_t> tops;   // the first one of each thread below its root
};

AgentTrees::Lists AgentTrees::MakeLists() const {
  Lists lists{
      std::vector<uint32_t>(ids_.size(), kNone), std::vector<uint32_t>(ids_.size(), kNone), {}};
  absl::flat_hash_map<uint32_t, uint32_t> first_of;  // by thread
  for (auto rank = static_cast<uint32_t>(ids_.size()); rank-- > 0;) {
    if (IsDropped(rank)) continue;
    const uint32_t parent = parents_[rank];
    uint32_t& first = parent != kNone ? lists.first[parent]
                                      : first_of.try_emplace(threads_[rank], kNone).first->second;
    lists.next[rank] = std::exchange(first, rank);
  }
  for (const auto& [thread, top] : first_of) lists.tops.push_back(top);
  std::sort(lists.tops.begin(), lists.tops.end());
  return lists;
}

void AgentTrees::VisitTree(const Lists& lists, uint32_t top, Visit visit) const {
  TreeNode node;
  uint32_t level = 0;
  for (uint32_t at = top; at != kNone;) {
    Fill(at, node);
    visit(ids_[at], node, level);
    if (lists.first[at] != kNone) {
      at = lists.first[at];
      ++level;
      continue;
    }
    while (at != kNone && lists.next[at] == kNone) {
      at = parents_[at];
      --level;
    }
    if (at != kNone) at = lists.next[at];
  }
}

void AgentTrees::DepthFirst(Visit visit) {
  SkipDropped();
  const Lists lists = MakeLists();
  for (const uint32_t top : lists.tops) VisitTree(lists, top, visit);
}

void AgentTrees::NoteUndefined(uint32_t node) {
  stats_.Add(Problem::kUndefinedReference,
             stats_.WantsDetail() ? StrCat("node ", node, " was never defined") : std::string());
}

void AgentTrees::Fill(uint32_t rank, TreeNode& node) const {
  node.thread = threads_[rank];
  node.parent = parents_[rank] == kNone ? 0 : ids_[parents_[rank]];
  node.routine = routines_[rank];
  node.lost = (flags_[rank] & kIsLost) != 0;
  node.place = rank < places_.size() ? places_[rank] : kNoCallSite;
  node.counts.calls = calls_.Find(rank);
  node.counts.calls_jitted = jitted_.Find(rank);
  node.counts.base = base_.Find(rank);
  node.counts.off = off_.Find(rank);
  node.counts.min = min_.Find(rank);
  node.counts.max = max_.Find(rank);
  node.counts.metrics.clear();
  if (metrics_.empty()) return;
  if (const auto found = metrics_.find(rank); found != metrics_.end()) {
    node.counts.metrics = found->second;
  }
}

std::optional<TreeNode> AgentTrees::FindNode(uint32_t node) const {
  const uint32_t rank = rank_of_.Find(node);
  if (rank == kNone || IsDropped(rank)) return std::nullopt;
  TreeNode found;
  Fill(rank, found);
  return found;
}

uint32_t AgentTrees::KeptNode(uint32_t node) {
  const uint32_t rank = rank_of_.Find(node);
  if (rank == kNone) return node;
  const uint32_t kept = KeptRank(rank);
  return kept == kNone ? 0 : ids_[kept];
}

uint32_t AgentTrees::KeptRank(uint32_t rank) {
  uint32_t kept = rank;
  while (kept != kNone && IsDropped(kept)) kept = parents_[kept];
  // Shortens the next search along this path.
  while (rank != kept) rank = std::exchange(parents_[rank], kept);
  return kept;
}

std::optional<uint32_t> AgentTrees::ThreadOf(uint32_t node) const {
  const uint32_t rank = rank_of_.Find(node);
  return rank == kNone ? std::nullopt : std::optional(threads_[rank]);
}

uint64_t AgentTrees::FoldedThreads(uint32_t thread) const {
  const auto found = folded_threads_.find(thread);
  return found == folded_threads_.end() ? 0 : found->second;
}

uint64_t AgentTrees::TotalCalls() const {
  uint64_t calls = 0;
  for (uint32_t rank = 0; rank < ids_.size(); ++rank) {
    if (!IsDropped(rank)) calls += static_cast<uint64_t>(calls_[rank]);
  }
  for (const FlatCount& count : flat_) calls += count.calls;
  return calls;
}

}  // namespace jtrace::postproc
