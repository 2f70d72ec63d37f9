// The collector's numbers for nodes: in updates, and for samples that name nodes.
#include "agent/hot/climb.h"
#include "agent/hot/position.h"
#include "agent/probes/find_child.h"
#include "agent/probes/node_state.h"
#include "agent/probes/tree_collector.h"

namespace jtrace {

using hot::At;
using hot::Node;
using hot::ReadRelaxed;
using hot::Ref;
using hot::ThreadState;

uint32_t TreeCollector::NumberOf(Node& node) {
  if (IsUnreported(node)) node.number = 0;
  if (node.number == 0) node.number = ++last_number_;
  return node.number;
}

void TreeCollector::Place(Node& node) {
  hot::Climb at(arena_, node);
  while (IsUnreported(*at) && at.Up()) continue;
  if (at.IsAtRoot() && at->collected == kUnseen) {
    auto* const state = reinterpret_cast<ThreadState*>(&*at) - 1;
    if (state->root == hot::RefOf(arena_, &*at)) IsGrouped(*state);
  }
  if (IsInGroup(*at)) PlaceInGroup(node, /*instead=*/at->number);
}

void TreeCollector::PlaceInGroup(Node& node, uint32_t instead) {
  path_.clear();
  hot::Climb at(arena_, node);
  do {
    path_.push_back(&*at);
  } while (at.Up() && !IsInGroup(*at));
  uint32_t above = at->number;
  // Not a node of the group's threads: the ways of two threads have crossed.
  if (!IsInGroup(*at)) {
    path_.resize(1);
    above = instead;
  }
  for (; !path_.empty(); path_.pop_back()) {
    Node& placed = *path_.back();
    placed.number = above = forest_.Child(above, placed.routine, last_number_);
    placed.collected = kInGroup;
  }
}

Node* TreeCollector::NodeAt(uint64_t raw_node) const {
  const uint64_t offset = (raw_node & UINT32_MAX) << hot::kGranuleShift;
  if (offset < hot::kFirstChunk || offset >= ReadRelaxed(arena_->next)) return nullptr;
  return At<Node>(arena_, static_cast<Ref>(raw_node));
}

uint32_t TreeCollector::TraceNode(uint64_t raw_node) {
  Node* node = NodeAt(raw_node);
  // Roots have no routine and no number.
  return node == nullptr || node->routine == 0 ? 0 : NameBySample(*node);
}

uint32_t TreeCollector::TraceChild(uint64_t raw_node, uint32_t routine) {
  const auto place = static_cast<uint32_t>(raw_node >> hot::kPositionPlaceShift);
  if (routine < hot::kPlacedIds) routine |= place << hot::kPlaceShift;
  const Node* parent = NodeAt(raw_node);
  if (parent == nullptr) return 0;
  const Ref child = FindChild(arena_, *parent, routine);
  if (child == 0) return 0;
  Node& node = *At<Node>(arena_, child);
  return node.routine == routine && node.parent == static_cast<Ref>(raw_node) ? NameBySample(node)
                                                                              : 0;
}

uint32_t TreeCollector::NameBySample(Node& node) {
  if (node.collected == kUnseen) Place(node);
  if (IsInGroup(node)) return forest_.NumberForSample(node.number);
  if (node.collected == kDropped) {
    Node& kept = KeptAbove(node);
    return kept.routine == 0 ? 0 : NameBySample(kept);
  }
  const uint32_t number = NumberOf(node);
  // Of new nodes the next look sees all.
  looks_at_all_ |= node.collected == kEarlier || node.routine == hot::kPrunedRoutine;
  if (node.collected != kDefined) node.collected = kNamed;
  return number;
}

}  // namespace jtrace
