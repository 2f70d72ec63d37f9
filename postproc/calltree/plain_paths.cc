#include "postproc/calltree/plain_paths.h"

namespace jtrace::postproc {

// The parent has its number.
uint32_t PlainPaths::Number(NodeId id) {
  const CallNode& node = tree_.node(id);
  if (!node.parent) return ++last_;
  const uint64_t key = uint64_t{number_[node.parent.value - 1]} << 32 | node.routine.value;
  const auto [entry, inserted] = children_.try_emplace({key, node.space}, last_ + 1);
  if (inserted) ++last_;
  return entry->second;
}

uint32_t PlainPaths::Of(NodeId id) {
  if (number_.size() < tree_.size()) number_.resize(tree_.size());
  for (NodeId at = id; at && number_[at.value - 1] == 0; at = tree_.parent(at)) {
    pending_.push_back(at);
  }
  while (!pending_.empty()) {
    const NodeId next = pending_.back();
    pending_.pop_back();
    number_[next.value - 1] = Number(next);
  }
  return number_[id.value - 1];
}

}  // namespace jtrace::postproc
