#include "postproc/reader/log_positions.h"

namespace jtrace::postproc {

void LogPositions::Shorten(Position& position, size_t size) {
  while (position.routines.size() > size) {
    position.size_with.erase(position.nodes.back());
    position.nodes.pop_back();
    position.routines.pop_back();
  }
}

void LogPositions::Append(Position& position, uint32_t node, RoutineId routine) {
  position.nodes.push_back(node);
  position.routines.push_back(routine);
  if (node != 0) position.size_with[node] = position.routines.size();
}

std::optional<LogPositions::Path> LogPositions::Find(uint32_t thread, uint64_t node) {
  Position& position = positions_[thread];
  if (node != 0 && !definitions_.MayStandAt(thread, node)) {
    Shorten(position, 0);
    Append(position, 0, model_.InternRoutine("[lost]"));
    return Path{position.routines, 0};
  }
  below_.clear();
  AgentTrees& trees = definitions_.trees();
  uint32_t at = trees.KeptNode(static_cast<uint32_t>(node));
  while (at != 0 && !position.size_with.contains(at)) {
    if (below_.size() >= room_) {
      room_ = 0;
      stats_.Add(Problem::kFarPosition);
      return std::nullopt;
    }
    below_.push_back(at);
    at = trees.KeptNode(trees.FindNode(at)->parent);
  }
  room_ -= below_.size();
  const size_t shared = at == 0 ? 0 : position.size_with[at];
  Shorten(position, shared);
  for (; !below_.empty(); below_.pop_back()) {
    const TreeNode& it = *trees.FindNode(below_.back());
    if (it.lost) Append(position, 0, model_.InternRoutine("[lost]"));
    Append(position, below_.back(), definitions_.Routine(it.routine));
  }
  return Path{position.routines, shared};
}

}  // namespace jtrace::postproc
