#include "agent/probes/tree_collector.h"

#include <algorithm>

namespace jtrace {

using hot::At;
using hot::Node;
using hot::ReadRelaxed;
using hot::Ref;

namespace {

// Values of Node::defined.
constexpr uint32_t kUndefined = 0;
constexpr uint32_t kDefined = 1;
constexpr uint32_t kNamedBySample = 2;  // not defined yet

uint64_t CallsOf(const Node& node, uint64_t jitted) {
  return jitted + ReadRelaxed(node.interpreted);
}

}  // namespace

template <typename Visit>
void TreeCollector::ForEachNode(hot::ThreadState& state, Visit visit) {
  Ref ref = state.root;
  while ((ref = hot::ReadAcquire(At<Node>(arena_, ref)->next)) != 0) visit(*At<Node>(arena_, ref));
}

void TreeCollector::Collect(absl::FunctionRef<void(const TreeUpdate&)> visit) {
  states_.ForEach([&](hot::ThreadState& state, bool ended) {
    updates_.clear();
    ForEachNode(state, [this](Node& node) { CollectNode(node); });
    if (ended || !updates_.empty()) visit({state.tid, ended, updates_});
  });
}

void TreeCollector::BeginFile() {
  bases_.clear();
  states_.Look([this](hot::ThreadState& state) {
    ForEachNode(state, [this](Node& node) {
      const uint32_t number = NumberOf(node);
      const uint64_t jitted = node.reported == 0 ? 0 : ReadRelaxed(node.jitted);
      if (bases_.size() <= number) bases_.resize(number + 1);
      bases_[number] = {node.reported, std::min(jitted, node.reported)};
      node.defined = kUndefined;
    });
  });
  calls_before_file_ = total_calls_;
}

void TreeCollector::BeginRecording() {
  states_.Look([this](hot::ThreadState& state) {
    ForEachNode(state, [](Node& node) { node.reported = CallsOf(node, ReadRelaxed(node.jitted)); });
  });
  total_calls_ = 0;
  nodes_reported_ = 0;
  BeginFile();
}

void TreeCollector::CollectNode(Node& node) {
  // Nodes of an earlier file that nothing happens to stay out of this one.
  const bool known_before = node.number != 0 && node.number < bases_.size();
  const bool unwanted = known_before ? node.defined != kNamedBySample : node.defined == kDefined;
  // The jitted count first: it can only be behind the sum then.
  if (unwanted && CallsOf(node, ReadRelaxed(node.jitted)) == node.reported) return;
  Report(node);
}

void TreeCollector::Report(Node& node) {
  path_.clear();
  for (Node* above = At<Node>(arena_, node.parent);
       above->routine != 0 && above->defined != kDefined; above = At<Node>(arena_, above->parent)) {
    path_.push_back(above);
  }
  for (; !path_.empty(); path_.pop_back()) ReportOne(*path_.back());
  ReportOne(node);
}

void TreeCollector::ReportOne(Node& node) {
  const uint64_t jitted = ReadRelaxed(node.jitted);
  const uint64_t calls = CallsOf(node, jitted);
  const Base base = BaseOf(node);
  const uint32_t parent = At<Node>(arena_, node.parent)->number;
  const bool is_new = node.defined != kDefined;
  const uint64_t jitted_since = jitted > base.jitted ? jitted - base.jitted : 0;
  const uint64_t calls_since = calls - base.calls;
  updates_.push_back({NumberOf(node), parent, node.routine, is_new, calls_since,
                      std::min(jitted_since, calls_since)});
  node.defined = kDefined;
  nodes_reported_ += is_new;
  total_calls_ += calls - node.reported;
  node.reported = calls;
}

TreeCollector::Base TreeCollector::BaseOf(const Node& node) const {
  return node.number < bases_.size() ? bases_[node.number] : Base();
}

uint32_t TreeCollector::NumberOf(Node& node) {
  if (node.number == 0) node.number = ++last_number_;
  return node.number;
}

Node* TreeCollector::NodeAt(uint64_t raw_node) const {
  const uint64_t offset = raw_node << hot::kGranuleShift;
  if (offset < hot::kFirstChunk || offset >= ReadRelaxed(arena_->next)) return nullptr;
  return At<Node>(arena_, static_cast<Ref>(raw_node));
}

uint32_t TreeCollector::TraceNode(uint64_t raw_node) {
  Node* node = NodeAt(raw_node);
  // Roots have no routine and no number.
  return node == nullptr || node->routine == 0 ? 0 : NameBySample(*node);
}

uint32_t TreeCollector::TraceChild(uint64_t raw_node, uint32_t routine) {
  const Node* parent = NodeAt(raw_node);
  if (parent == nullptr) return 0;
  const uint64_t direct = ReadRelaxed(parent->slots[routine % hot::kSlotCount]);
  const Ref child = hot::IsSlotOf(direct, routine) ? hot::ChildIn(direct)
                                                    : hot::FindInTable(arena_, *parent, routine);
  if (child == 0) return 0;
  Node& node = *At<Node>(arena_, child);
  return node.routine == routine && node.parent == raw_node ? NameBySample(node) : 0;
}

uint32_t TreeCollector::NameBySample(Node& node) {
  if (node.defined == kUndefined) node.defined = kNamedBySample;
  return NumberOf(node);
}

uint64_t TreeCollector::lost_calls() const {
  return ReadRelaxed(arena_->lost_node.interpreted) + ReadRelaxed(arena_->lost_node.jitted);
}

}  // namespace jtrace
