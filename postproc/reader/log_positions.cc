#include "postproc/reader/log_positions.h"

#include <algorithm>

namespace jtrace::postproc {

std::optional<LogPositions::Path> LogPositions::Find(uint32_t thread, uint64_t node) {
  NodePath& position = positions_[thread];
  if (node != 0 && !definitions_.MayStandAt(thread, node)) {
    position.MoveToLost(model_);
    return Path{position.steps(), 0};
  }
  const auto shared = position.MoveTo(static_cast<uint32_t>(node), room_, definitions_, model_);
  if (!shared.has_value()) {
    room_ = 0;
    stats_.Add(Problem::kFarPosition);
    return std::nullopt;
  }
  const size_t steps = position.steps().size() - *shared;
  room_ -= std::min(steps, room_);
  return Path{position.steps(), *shared};
}

}  // namespace jtrace::postproc
