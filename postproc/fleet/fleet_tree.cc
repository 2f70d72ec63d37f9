#include "postproc/fleet/fleet_tree.h"

#include <utility>

#include "postproc/calltree/group_name.h"
#include "postproc/model/code_owner.h"
#include "postproc/support/wrap.h"

namespace jtrace::postproc::fleet {

void FleetSums::Add(const FleetSums& other) {
  calls = WrapAdd(calls, other.calls);
  calls_jitted = WrapAdd(calls_jitted, other.calls_jitted);
  base = WrapAdd(base, other.base);
  cum = WrapAdd(cum, other.cum);
  off = WrapAdd(off, other.off);
  base_ticks = WrapAdd(base_ticks, other.base_ticks);
  cum_ticks = WrapAdd(cum_ticks, other.cum_ticks);
}

FleetTree::FleetTree(const ReportInput& input) {
  MakeRoutines(input.model);
  Place(input);
  SetLevels();
  for (size_t i = nodes_.size(); i-- > 0;) {
    FleetNode& node = nodes_[i];
    node.cum = WrapAdd(node.cum, node.base);
    node.cum_ticks = WrapAdd(node.cum_ticks, node.base_ticks);
    if (node.depth == 0) continue;
    FleetNode& parent = nodes_[node.parent];
    parent.cum = WrapAdd(parent.cum, node.cum);
    parent.cum_ticks = WrapAdd(parent.cum_ticks, node.cum_ticks);
  }
}

// Classes of one name in several loaders are one.
void FleetTree::MakeRoutines(const TraceModel& model) {
  routine_of_.resize(model.routine_count() + 1);
  StringMap<uint32_t> known;
  for (uint32_t i = 1; i < routine_of_.size(); ++i) {
    StableRoutine routine = MakeStable(model, RoutineId(i));
    const auto [entry, inserted] =
        known.try_emplace(routine.identity, static_cast<uint32_t>(routines_.size()));
    if (inserted) routines_.push_back(std::move(routine));
    routine_of_[i] = entry->second;
  }
}

uint32_t FleetTree::Root(const std::string& group) {
  const auto [entry, inserted] = roots_.try_emplace(group, static_cast<uint32_t>(nodes_.size()));
  if (inserted) {
    FleetNode& root = nodes_.emplace_back();
    root.parent = entry->second;
    root.group = static_cast<uint32_t>(groups_.size());
    groups_.push_back(group);
  }
  return entry->second;
}

uint32_t FleetTree::Child(uint32_t parent, uint32_t routine) {
  const uint64_t key = uint64_t{parent} << 32 | routine;
  const auto [entry, inserted] = children_.try_emplace(key, static_cast<uint32_t>(nodes_.size()));
  if (!inserted) return entry->second;
  FleetNode child;
  child.parent = parent;
  child.routine = routine;
  child.group = nodes_[parent].group;
  child.depth = nodes_[parent].depth + 1;
  child.path = nodes_[parent].path.Below(routines_[routine].identity);
  nodes_.push_back(child);
  return entry->second;
}

void FleetTree::Place(const ReportInput& input) {
  const std::vector<CodeOwner> owners = CodeOwners(input.model);
  node_of_.resize(input.tree.size());
  for (uint32_t i = 0; i < node_of_.size(); ++i) {
    const CallNode& node = input.tree.node(NodeId(i + 1));
    if (!node.parent) {
      node_of_[i] = Root(GroupName(input.model.thread(node.thread).name));
    } else {
      const uint32_t above = node_of_[node.parent.value - 1];
      const bool is_kept =
          node.origin == NodeOrigin::kEvent || owners[node.routine.value] == CodeOwner::kProgram;
      node_of_[i] = is_kept ? Child(above, routine_of_[node.routine.value]) : above;
    }
    FleetSums own;
    // A thread's root has one call, which is in no total.
    if (node.parent) own.calls = node.calls;
    own.calls_jitted = node.calls_jitted;
    own.base = node.base;
    own.off = node.off;
    own.base_ticks = node.base_ticks;
    nodes_[node_of_[i]].Add(own);
  }
}

// Depth first, with the number of open activations of each routine: a walk up from each node would
// take the square of a deep recursion's depth.
void FleetTree::SetLevels() {
  constexpr uint32_t kNone = UINT32_MAX;
  std::vector<uint32_t> first_child(nodes_.size(), kNone);
  std::vector<uint32_t> next_sibling(nodes_.size(), kNone);
  for (auto i = static_cast<uint32_t>(nodes_.size()); i-- > 0;) {
    if (nodes_[i].depth == 0) continue;
    next_sibling[i] = std::exchange(first_child[nodes_[i].parent], i);
  }
  std::vector<uint32_t> open(routines_.size());
  for (uint32_t root = 0; root < nodes_.size(); ++root) {
    if (nodes_[root].depth > 0) continue;
    uint32_t at = first_child[root];
    bool is_entering = true;
    while (at != kNone && at != root) {
      FleetNode& node = nodes_[at];
      if (is_entering) node.level = ++open[node.routine];
      if (is_entering && first_child[at] != kNone) {
        at = first_child[at];
        continue;
      }
      --open[node.routine];
      is_entering = next_sibling[at] != kNone;
      at = is_entering ? next_sibling[at] : node.parent;
    }
  }
}

}  // namespace jtrace::postproc::fleet
