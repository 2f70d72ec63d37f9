#include "postproc/samples/path_tree.h"

#include <algorithm>
#include <tuple>

#include "postproc/model/path_step.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {

std::vector<int64_t> WeightByStack(const SampleLog& log) {
  std::vector<int64_t> weights(log.stacks().size() + 1);
  for (const LoggedSample& sample : log.samples()) {
    int64_t& weight = weights[sample.stack.value];
    weight = WrapAdd(weight, sample.weight);
  }
  return weights;
}

int64_t TotalWeight(const SampleLog& log) {
  int64_t total = 0;
  for (const LoggedSample& sample : log.samples()) total = WrapAdd(total, sample.weight);
  return total;
}

// Nothing is known of the caller of a path's first routine.
uint32_t PathTree::Child(uint32_t parent, RoutineId routine, CallSite place) {
  const uint64_t key = uint64_t{parent} << 32 | routine.value;
  if (parent == 0) place = kNoCallSite;
  auto [entry, inserted] =
      children_.try_emplace({key, place}, static_cast<uint32_t>(nodes_.size() + 1));
  if (inserted) {
    PathNode node;
    node.routine = routine;
    node.place = place;
    node.parent = parent;
    node.level = parent == 0 ? 0 : nodes_[parent - 1].level + 1;
    nodes_.push_back(node);
  }
  return entry->second;
}

PathTree::PathTree(TraceModel& model, const SampleLog& log, bool with_places,
                   const RoutinePredicate& start) {
  const std::vector<int64_t> weights = WeightByStack(log);
  const StackTable& stacks = log.stacks();
  std::vector<bool> sampled(weights.size());
  for (const LoggedSample& sample : log.samples()) sampled[sample.stack.value] = true;
  // Only stacks that lead to a sample make paths; callers have smaller numbers.
  for (uint32_t i = static_cast<uint32_t>(stacks.size()); i > 0; --i) {
    const StackId caller = stacks.Caller(StackId(i));
    if (sampled[i] && caller) sampled[caller.value] = true;
  }
  std::vector<uint32_t> path_of(weights.size());  // index + 1; 0: not begun
  for (uint32_t i = 1; i <= stacks.size(); ++i) {
    if (!sampled[i]) continue;
    const uint32_t caller = path_of[stacks.Caller(StackId(i)).value];
    const RoutineId routine = model.frame(stacks.Innermost(StackId(i))).routine;
    if (start != nullptr && caller == 0 && !start(routine)) continue;
    path_of[i] = Child(caller, routine, with_places ? stacks.Place(StackId(i)) : kNoCallSite);
    PathNode& node = nodes_[path_of[i] - 1];
    node.exclusive = WrapAdd(node.exclusive, weights[i]);
  }
  if (sampled[0]) AddNoFrames(model, weights[0], start);
  SumUp();
}

namespace {

// Nodes that have a value, and all nodes above them.
std::vector<bool> NodesWithValues(const CallTree& tree, const std::vector<int64_t>& base) {
  std::vector<bool> valued(base.size());
  for (size_t i = base.size(); i-- > 0;) {
    valued[i] = valued[i] || base[i] != 0;
    const NodeId parent = tree.node(NodeId(static_cast<uint32_t>(i + 1))).parent;
    if (valued[i] && parent) valued[parent.value - 1] = true;
  }
  return valued;
}

}  // namespace

PathTree::PathTree(TraceModel& model, const CallTree& tree, const std::vector<int64_t>& base,
                   const RoutinePredicate& start) {
  const std::vector<bool> valued = NodesWithValues(tree, base);
  std::vector<uint32_t> path_of(base.size() + 1);  // by node; index + 1, 0: not begun
  for (uint32_t i = 1; i <= base.size(); ++i) {
    const CallNode& node = tree.node(NodeId(i));
    if (!valued[i - 1]) continue;
    if (!node.parent) {
      if (base[i - 1] != 0) AddNoFrames(model, base[i - 1], start);
      continue;
    }
    const uint32_t caller = path_of[node.parent.value];
    if (start != nullptr && caller == 0 && !start(node.routine)) continue;
    path_of[i] = Child(caller, node.routine, node.place);
    PathNode& path = nodes_[path_of[i] - 1];
    path.exclusive = WrapAdd(path.exclusive, base[i - 1]);
  }
  SumUp();
}

void PathTree::AddNoFrames(TraceModel& model, int64_t value, const RoutinePredicate& start) {
  const RoutineId no_frames = model.InternRoutine("[no_frames]");
  if (start != nullptr && !start(no_frames)) return;
  PathNode& node = nodes_[Child(0, no_frames, kNoCallSite) - 1];
  node.exclusive = WrapAdd(node.exclusive, value);
}

void PathTree::SumUp() {
  for (size_t i = nodes_.size(); i-- > 0;) {
    PathNode& node = nodes_[i];
    node.inclusive = WrapAdd(node.inclusive, node.exclusive);
    int64_t& above = node.parent == 0 ? total_ : nodes_[node.parent - 1].inclusive;
    above = WrapAdd(above, node.inclusive);
  }
}

std::vector<uint32_t> PathTree::Order(const TraceModel& model) const {
  std::vector<std::vector<uint32_t>> children(nodes_.size() + 1);
  for (uint32_t i = 0; i < nodes_.size(); ++i) children[nodes_[i].parent].push_back(i);
  // Pushed coldest first, so that the hottest is popped first.
  const auto colder = [&](uint32_t a, uint32_t b) {
    if (nodes_[a].inclusive != nodes_[b].inclusive) {
      return nodes_[a].inclusive < nodes_[b].inclusive;
    }
    const std::string_view name_a = model.RoutineName(nodes_[a].routine);
    const std::string_view name_b = model.RoutineName(nodes_[b].routine);
    return std::tie(name_a, nodes_[a].place) > std::tie(name_b, nodes_[b].place);
  };
  std::vector<uint32_t> order;
  std::vector<uint32_t> pending;
  uint32_t expand = 0;
  while (true) {
    auto& below = children[expand];
    std::sort(below.begin(), below.end(), colder);
    pending.insert(pending.end(), below.begin(), below.end());
    if (pending.empty()) return order;
    order.push_back(pending.back());
    expand = pending.back() + 1;
    pending.pop_back();
  }
}

std::string PathTree::Path(const TraceModel& model, uint32_t index) const {
  std::vector<uint32_t> steps;
  for (uint32_t at = index + 1; at != 0; at = nodes_[at - 1].parent) steps.push_back(at - 1);
  std::string path(model.RoutineName(nodes_[steps.back()].routine));
  for (size_t i = steps.size() - 1; i-- > 0;) {
    const PathNode& node = nodes_[steps[i]];
    StrAppend(&path, PlaceText(node.place), " > ", model.RoutineName(node.routine));
  }
  return path;
}

}  // namespace jtrace::postproc
