#include "agent/probes/open_nodes.h"

#include <algorithm>

#include "agent/hot/climb.h"
#include "agent/probes/find_child.h"

namespace jtrace {
namespace {

using hot::At;
using hot::Node;
using hot::Ref;

// Where the thread is now: the nodes from below its root to its current one.
std::vector<Ref> CurrentPath(const hot::Arena* arena, const hot::ThreadState& state) {
  std::vector<Ref> path;
  const auto* node = reinterpret_cast<const Node*>(hot::ReadRelaxed(state.current));
  if (node == nullptr || node == &arena->lost_node) return path;
  hot::Climb at(arena, *node);
  do {
    if (!at.IsAtRoot()) path.push_back(hot::RefOf(arena, &*at));
  } while (at.Up());
  std::reverse(path.begin(), path.end());
  return path;
}

}  // namespace

std::vector<Ref> FindOpenNodes(const hot::Arena* arena, const hot::ThreadState& state,
                               absl::Span<const uint32_t> routines) {
  std::vector<Ref> nodes(routines.size());
  const std::vector<Ref> path = CurrentPath(arena, state);
  // Between two of the activations may be calls that leave the scope (boundary=on).
  constexpr size_t kMostBetween = 2;
  Ref above = state.root;
  size_t depth = 0;  // how much of the path is above
  for (size_t i = 0; i < routines.size(); ++i) {
    const auto is_next = [&](Ref ref) { return At<Node>(arena, ref)->routine == routines[i]; };
    const auto from = path.begin() + static_cast<ptrdiff_t>(std::min(depth, path.size()));
    const auto to = from + std::min<ptrdiff_t>(path.end() - from, kMostBetween);
    const auto next = std::find_if(from, to, is_next);
    const bool is_on_path = depth <= path.size() && next != to;
    const bool is_direct = is_on_path && next == from;
    const Ref child = is_direct ? *next : FindChild(arena, *At<Node>(arena, above), routines[i]);
    if (child != 0 && is_next(child)) {
      nodes[i] = above = child;
      depth = is_direct ? depth + 1 : path.size() + 1;
    } else if (is_on_path) {
      nodes[i] = above = *next;
      depth = static_cast<size_t>(next - path.begin()) + 1;
    }
  }
  return nodes;
}

}  // namespace jtrace
