#include "agent/probes/tree_times.h"

#include <algorithm>

namespace jtrace {
namespace {

using hot::At;
using hot::Node;
using hot::NodeTimes;
using hot::ReadRelaxed;

NodeTimes& TimesOf(Node& node) { return *reinterpret_cast<NodeTimes*>(&node + 1); }
const NodeTimes& TimesOf(const Node& node) {
  return *reinterpret_cast<const NodeTimes*>(&node + 1);
}

}  // namespace

void TreeTimes::FindOpen(const hot::ThreadState& state) {
  if (scale_ == nullptr) return;
  open_path_.clear();
  const uint64_t current = ReadRelaxed(state.current);
  const uint64_t mark = ReadRelaxed(state.mark);
  open_node_ = reinterpret_cast<const Node*>(current);
  // Ended activations of the node do not matter: it is open now.
  for (const Node* node = open_node_; node != nullptr && node->parent != 0;
       node = At<Node>(arena_, node->parent)) {
    open_path_.insert(node);
  }
  const uint64_t tick = ReadRelaxed(arena_->tick);
  const uint64_t now = clock_is_coarse_ ? tick : scale_->Now();
  // Where probes run all the time there is no need to know; elsewhere both stay as they are.
  const bool still = ReadRelaxed(state.mark) == mark && ReadRelaxed(state.current) == current;
  open_ticks_ = still && ReadRelaxed(state.log_ring) == 0 && now > mark ? now - mark : 0;
}

NodeTicks TreeTimes::ReadClosed(const Node& node) const {
  if (scale_ == nullptr) return {};
  const NodeTimes& times = TimesOf(node);
  const uint64_t least = ReadRelaxed(times.least);
  NodeTicks time;
  time.least = least != 0 ? hot::kMostTicks - least : 0;
  time.greatest = ReadRelaxed(times.greatest);
  time.off = ReadRelaxed(times.off);
  time.base = ReadRelaxed(times.base);
  return time;
}

NodeTicks TreeTimes::Read(const Node& node) const {
  if (scale_ == nullptr) return {};
  const NodeTimes& times = TimesOf(node);
  const bool has_ended = ReadRelaxed(times.least) != 0;
  const uint64_t start = ReadRelaxed(times.base_start);
  NodeTicks time = ReadClosed(node);
  const bool is_open = open_path_.contains(&node);
  uint64_t open = is_open && time.base > start ? time.base - start : 0;
  if (&node == open_node_) {
    time.base += open_ticks_;
    open += open_ticks_;
  }
  if (!has_ended) time.least = open;
  if (is_open) time.least = std::min(time.least, open);
  if (is_open) time.greatest = std::max(time.greatest, open);
  return time;
}

NodeTicks TreeTimes::SinceBaseline(const Node& node, NodeTicks read) const {
  if (scale_ == nullptr) return read;
  const NodeTimes& times = TimesOf(node);
  read.base -= std::min(read.base, times.baseline_base);
  read.off -= std::min(read.off, times.baseline_off);
  if (node.routine == hot::kPrunedRoutine) {
    // Of many routines: bounds that hold for any of them.
    read.least = 0;
    read.greatest = read.base;
  }
  return read;
}

bool TreeTimes::Passed(const Node& node) const {
  if (scale_ == nullptr) return false;
  const NodeTicks time = Read(node);
  return time.base + time.off != TimesOf(node).reported;
}

void TreeTimes::SetReported(Node& node, const NodeTicks& read) const {
  if (scale_ != nullptr) TimesOf(node).reported = read.base + read.off;
}

void TreeTimes::SetBaseline(Node& node, const NodeTicks& read) const {
  if (scale_ == nullptr) return;
  TimesOf(node).baseline_base = read.base;
  TimesOf(node).baseline_off = read.off;
}

}  // namespace jtrace
