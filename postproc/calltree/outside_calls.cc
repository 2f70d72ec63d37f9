#include "postproc/calltree/outside_calls.h"

#include <utility>

namespace jtrace::postproc {
namespace {

NodeId NodeAt(size_t index) { return NodeId(static_cast<uint32_t>(index + 1)); }

bool IsOutsideKind(RoutineKind kind) {
  return kind == RoutineKind::kCall || kind == RoutineKind::kNative || kind == RoutineKind::kPark;
}

// Most traces have no such calls: nothing to walk the tree for.
bool HasOutsideCalls(const TraceModel& model) {
  for (uint32_t i = 1; i <= model.routine_count(); ++i) {
    if (IsOutsideKind(model.TraitsOf(RoutineId(i)).kind)) return true;
  }
  return false;
}

// By node, in the trace's unit; 0 where the agent measured nothing.
std::vector<int64_t> MeasuredTimes(const TraceModel& model, const CallTree& tree) {
  const MetricId metric = model.FindMetric("outside.ns");
  const int64_t unit = NanosecondsPer(model.unit());
  if (!metric || unit == 0) return std::vector<int64_t>(tree.size());
  std::vector<int64_t> times = tree.MetricBase(metric);
  for (int64_t& time : times) time /= unit;
  return times;
}

int64_t TimeOf(const TraceModel& model, const CallNode& node, int64_t measured) {
  if (model.TraitsOf(node.routine).cost == RoutineCost::kUserInput) return 0;
  return measured != 0 ? measured : WrapAdd(node.base, node.off);
}

// The cycles of a node's calls, which got so many elements.
int64_t CyclesOf(const RoutineTraits& traits, int64_t calls, int64_t elements) {
  return WrapAdd(WrapMultiply(calls, traits.cycles),
                 WrapMultiply(elements, traits.millicycles_per_element) / 1000);
}

std::vector<int64_t> ElementsOf(const TraceModel& model, const CallTree& tree) {
  const MetricId metric = model.FindMetric("outside.elements");
  return metric ? tree.MetricBase(metric) : std::vector<int64_t>(tree.size());
}

}  // namespace

bool IsOutsideCall(const TraceModel& model, const CallNode& node) {
  if (!node.routine || node.origin != NodeOrigin::kEvent || model.IsHooked(node.routine)) {
    return false;
  }
  return IsOutsideKind(model.TraitsOf(node.routine).kind);
}

void NoteOutsideCalls(const TraceModel& model, CallTree& tree) {
  if (!HasOutsideCalls(model)) return;
  const std::vector<int64_t> measured = MeasuredTimes(model, tree);
  // By node: the nearest one that is not such a call, itself or above.
  std::vector<NodeId> owner(tree.size());
  for (size_t i = 0; i < tree.size(); ++i) {
    const CallNode& node = tree.node(NodeAt(i));
    owner[i] = NodeAt(i);
    if (!node.parent || !IsOutsideCall(model, node)) continue;
    owner[i] = owner[node.parent.value - 1];
    CallNode& caller = tree.node(owner[i]);
    // What such a call calls is a part of it.
    if (owner[i] == node.parent) caller.outside_calls = WrapAdd(caller.outside_calls, node.calls);
    caller.outside_time = WrapAdd(caller.outside_time, TimeOf(model, node, measured[i]));
  }
}

void AddOutsideCycles(const TraceModel& model, MetricId into, CallTree& tree) {
  const std::vector<int64_t> elements = ElementsOf(model, tree);
  for (size_t i = 0; i < tree.size(); ++i) {
    const CallNode& node = tree.node(NodeAt(i));
    if (!IsOutsideCall(model, node)) continue;
    const int64_t cycles = CyclesOf(model.TraitsOf(node.routine), node.calls, elements[i]);
    if (cycles != 0) tree.AddMetric(NodeAt(i), into, cycles);
  }
}

OutsideCosts SumUpOutsideCalls(const TraceModel& model, const CallTree& tree) {
  OutsideCosts costs;
  if (!HasOutsideCalls(model)) return costs;
  const std::vector<int64_t> measured = MeasuredTimes(model, tree);
  const std::vector<int64_t> elements = ElementsOf(model, tree);
  for (size_t i = 0; i < tree.size(); ++i) {
    const CallNode& node = tree.node(NodeAt(i));
    if (!IsOutsideCall(model, node)) continue;
    const RoutineTraits traits = model.TraitsOf(node.routine);
    OutsideCost& cost = costs[static_cast<size_t>(traits.cost)];
    cost.calls = WrapAdd(cost.calls, node.calls);
    cost.time = WrapAdd(cost.time, TimeOf(model, node, measured[i]));
    cost.cycles = WrapAdd(cost.cycles, CyclesOf(traits, node.calls, elements[i]));
  }
  return costs;
}

namespace {

class Folder {
 public:
  Folder(const CallTree& tree, const TraceModel& model)
      : tree_(tree),
        model_(model),
        moved_(tree.size() + 1),
        is_folded_(tree.size() + 1),
        place_(tree.size() + 1) {}

  RerootedTree Fold(const std::vector<ThreadSummary>& threads) {
    for (uint32_t i = 1; i <= tree_.size(); ++i) Move(NodeId(i));
    tree_.ForEachMetric([&](MetricId metric, NodeId node, int64_t value) {
      result_.tree.AddMetric(moved_[node.value], metric, value);
    });
    for (size_t i = 0; i < added_.size(); ++i) WidenExtremes(NodeAt(i), added_[i]);
    for (ThreadSummary thread : threads) {
      thread.root = moved_[thread.root.value];
      result_.threads.push_back(thread);
    }
    return std::move(result_);
  }

 private:
  // Parents come first.
  void Move(NodeId id) {
    const CallNode& node = tree_.node(id);
    NodeId& to = moved_[id.value];
    if (!node.parent) {
      to = result_.tree.AddRoot(node.thread);
      result_.tree.node(to).calls = 0;  // counted below
      result_.tree.AddCounts(to, node);
      if (node.has_extremes) result_.tree.AddExtremes(to, node.min_base, node.max_base);
      return;
    }
    const NodeId parent = moved_[node.parent.value];
    // What a folded call calls back is called from where that call was made.
    place_[id.value] = is_folded_[node.parent.value] ? place_[node.parent.value] : node.place;
    const bool is_part = is_folded_[node.parent.value] && node.origin == NodeOrigin::kSample;
    if (is_part || IsOutsideCall(model_, node)) {
      to = parent;
      is_folded_[id.value] = true;
      AddToCaller(to, node);
      return;
    }
    to = result_.tree.Child(parent, node.routine, node.space, place_[id.value]);
    result_.tree.AddCounts(to, node);
    result_.tree.AddRepeatedSamples(to, tree_.repeated_samples(id));
    if (node.has_extremes) result_.tree.AddExtremes(to, node.min_base, node.max_base);
  }

  void AddToCaller(NodeId to, const CallNode& node) {
    CallNode& caller = result_.tree.node(to);
    caller.base = WrapAdd(caller.base, node.base);
    caller.off = WrapAdd(caller.off, node.off);
    caller.base_ticks = WrapAdd(caller.base_ticks, node.base_ticks);
    if (added_.size() < to.value) added_.resize(to.value);
    added_[to.value - 1] = WrapAdd(added_[to.value - 1], node.base);
  }

  // How the added time is spread over the activations is not known.
  void WidenExtremes(NodeId id, int64_t added) {
    CallNode& node = result_.tree.node(id);
    if (added == 0 || !node.has_extremes) return;
    if (node.calls == 1) {
      node.min_base = node.max_base = node.base;
      return;
    }
    node.max_base = WrapAdd(node.max_base, added);
    node.has_rough_extremes = true;
  }

  const CallTree& tree_;
  const TraceModel& model_;
  std::vector<NodeId> moved_;     // by old node
  std::vector<bool> is_folded_;   // by old node: into its caller
  std::vector<CallPlace> place_;  // by old node: in the caller that is kept
  std::vector<int64_t> added_;    // by new node: base of what was folded into it
  RerootedTree result_;
};

}  // namespace

RerootedTree FoldOutsideCalls(const CallTree& tree, const std::vector<ThreadSummary>& threads,
                              const TraceModel& model) {
  return Folder(tree, model).Fold(threads);
}

}  // namespace jtrace::postproc
