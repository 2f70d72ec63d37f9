#include "postproc/calltree/outside_calls.h"

#include "postproc/calltree/reroot.h"

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
PrefixColumn<int64_t> MeasuredTimes(const TraceModel& model, const CallTree& tree) {
  const MetricId metric = model.FindMetric("outside.ns");
  const int64_t unit = NanosecondsPer(model.unit());
  if (!metric || unit == 0) return {};
  PrefixColumn<int64_t> times = tree.MetricBase(metric);
  for (int64_t& time : times.values()) time /= unit;
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

PrefixColumn<int64_t> ElementsOf(const TraceModel& model, const CallTree& tree) {
  const MetricId metric = model.FindMetric("outside.elements");
  return metric ? tree.MetricBase(metric) : PrefixColumn<int64_t>();
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
  const PrefixColumn<int64_t> measured = MeasuredTimes(model, tree);
  // By node: the nearest one that is not such a call, itself or above.
  std::vector<NodeId> owner(tree.size());
  for (size_t i = 0; i < tree.size(); ++i) {
    const CallNode& node = tree.node(NodeAt(i));
    owner[i] = NodeAt(i);
    if (!node.parent || !IsOutsideCall(model, node)) continue;
    owner[i] = owner[node.parent.value - 1];
    // What such a call calls is a part of it.
    tree.AddOutside(owner[i], owner[i] == node.parent ? node.calls : 0,
                    TimeOf(model, node, measured[i]));
  }
}

void AddOutsideCycles(const TraceModel& model, MetricId into, CallTree& tree) {
  const PrefixColumn<int64_t> elements = ElementsOf(model, tree);
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
  const PrefixColumn<int64_t> measured = MeasuredTimes(model, tree);
  const PrefixColumn<int64_t> elements = ElementsOf(model, tree);
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

RerootedTree FoldOutsideCalls(const CallTree& tree, const std::vector<ThreadSummary>& threads,
                              const TraceModel& model) {
  return FoldNodes(tree, threads, [&](const CallNode& node, bool is_caller_folded) {
    return (is_caller_folded && node.origin == NodeOrigin::kSample) || IsOutsideCall(model, node);
  });
}

}  // namespace jtrace::postproc
