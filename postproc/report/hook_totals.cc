#include "postproc/report/hook_totals.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

// Two frames of one name are one function.
using HookName = std::pair<std::string, HookKind>;
using CallerName = std::tuple<std::string_view, std::string_view, std::string>;

struct Parts {
  absl::btree_set<std::string_view> patterns;
  absl::btree_map<CallerName, HookSums> callers;
  absl::btree_set<RoutineId> methods;  // of Java: the tree has their calls
};

std::string ShownName(const TraceModel& model, FrameId id) {
  if (!id) return "";
  const Frame& frame = model.frame(id);
  const std::string_view name = model.RoutineName(frame.routine);
  const std::string_view tail = frame.is_tail_call ? " [tail call]" : "";
  if (!frame.module && !frame.is_tail_call) return std::string(name);
  return StrCat(model.ModuleName(frame.module), tail, "!", name);
}

CallerName NameOf(const TraceModel& model, const HookLog::Caller& caller) {
  return {caller.thread ? std::string_view(model.thread(caller.thread).name) : "",
          caller.java ? model.RoutineName(caller.java) : "", ShownName(model, caller.native)};
}

// Calls of a Java method by the nodes above its nodes.
void AddCallsOfMethod(const ReportInput& input, RoutineId method, Parts& parts) {
  const TraceModel& model = input.model;
  const CallTree& tree = input.tree;
  for (NodeId id = tree.first_instance(method); id; id = tree.next_instance(id)) {
    const CallNode& node = tree.node(id);
    if (node.calls == 0 || !node.parent) continue;
    const RoutineId caller = tree.node(node.parent).routine;
    NodeId root = node.parent;
    while (tree.node(root).parent) root = tree.node(root).parent;
    const ThreadId thread = input.hooks.by_thread() ? tree.node(root).thread : ThreadId();
    HookSums sums;
    sums.calls = node.calls;
    const CallerName name = {thread ? std::string_view(model.thread(thread).name) : "",
                             caller ? model.RoutineName(caller) : "", ""};
    parts.callers[name].Add(sums);
  }
}

HookTotal TotalOf(const HookName& name, const Parts& parts) {
  HookTotal total;
  std::tie(total.name, total.kind) = name;
  total.is_method = !parts.methods.empty();
  for (const std::string_view pattern : parts.patterns) {
    StrAppend(&total.pattern, total.pattern.empty() ? "" : ";", pattern);
  }
  for (const auto& [caller, sums] : parts.callers) {
    const auto& [thread, java, native] = caller;
    total.callers.push_back({thread, java, native, sums});
    total.sums.Add(sums);
  }
  const auto by_calls = [](const auto& a, const auto& b) { return a.sums.calls > b.sums.calls; };
  std::stable_sort(total.callers.begin(), total.callers.end(), by_calls);
  return total;
}

}  // namespace

std::vector<HookTotal> HookTotals(const ReportInput& input) {
  const TraceModel& model = input.model;
  absl::btree_map<HookName, Parts> by_name;
  for (const TraceInfo& trace : model.traces()) {
    for (const HookInfo& hook : trace.hooks) {
      Parts& parts = by_name[{ShownName(model, hook.frame), hook.kind}];
      if (!hook.pattern.empty()) parts.patterns.insert(hook.pattern);
      const Frame& frame = model.frame(hook.frame);
      // Without a pattern it is a record of calls, which counts them itself.
      const bool is_method = IsJava(frame.origin) && !hook.pattern.empty();
      if (is_method && parts.methods.insert(frame.routine).second) {
        AddCallsOfMethod(input, frame.routine, parts);
      }
    }
  }
  for (const auto& [key, callers] : input.hooks.hooks()) {
    Parts& parts = by_name[{ShownName(model, key.first), key.second}];
    for (const auto& [caller, sums] : callers) parts.callers[NameOf(model, caller)].Add(sums);
  }
  std::vector<HookTotal> totals;
  for (const auto& [name, parts] : by_name) totals.push_back(TotalOf(name, parts));
  std::stable_sort(totals.begin(), totals.end(), [](const HookTotal& a, const HookTotal& b) {
    return a.sums.calls > b.sums.calls;
  });
  return totals;
}

int64_t HookedCalls(const std::vector<HookTotal>& hooks) {
  HookSums all;
  for (const HookTotal& hook : hooks) all.Add(hook.sums);
  return all.calls;
}

}  // namespace jtrace::postproc
