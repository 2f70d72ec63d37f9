#include "postproc/reader/node_path.h"

namespace jtrace::postproc {

void NodePath::Shorten(size_t size) {
  while (steps_.size() > size) {
    size_with_.erase(nodes_.back());
    nodes_.pop_back();
    steps_.pop_back();
  }
}

void NodePath::Append(uint32_t node, PathStep step) {
  nodes_.push_back(node);
  steps_.push_back(step);
  if (node != 0) size_with_[node] = steps_.size();
}

void NodePath::MoveToLost(TraceModel& model) {
  Shorten(0);
  Append(0, model.InternRoutine("[lost]"));
}

std::optional<size_t> NodePath::MoveTo(uint32_t node, size_t most_steps, Definitions& definitions,
                                       TraceModel& model) {
  below_.clear();
  AgentTrees& trees = definitions.trees();
  uint32_t at = trees.KeptNode(node);
  while (at != 0 && !size_with_.contains(at)) {
    if (below_.size() >= most_steps) return std::nullopt;
    below_.push_back(at);
    at = trees.KeptNode(trees.FindNode(at)->parent);
  }
  const size_t shared = at == 0 ? 0 : size_with_[at];
  Shorten(shared);
  for (; !below_.empty(); below_.pop_back()) {
    const std::optional<TreeNode> it = trees.FindNode(below_.back());
    if (it->lost) Append(0, model.InternRoutine("[lost]"));
    Append(below_.back(), PathStep(definitions.Routine(it->routine), it->place));
  }
  return shared;
}

}  // namespace jtrace::postproc
