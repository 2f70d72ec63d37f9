#include "agent/probes/log_reader_position.h"

namespace jtrace {

using hot::At;
using hot::Node;
using hot::Ref;

Ref LogReaderPosition::Caller(uint32_t routine) const {
  for (Ref ref = at_; ref != 0; ref = At<Node>(arena_, ref)->parent) {
    const Node& node = *At<Node>(arena_, ref);
    if (node.routine == routine) return node.parent;
  }
  return at_;
}

}  // namespace jtrace
