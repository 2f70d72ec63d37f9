#include "agent/calls/trees/tree_source.h"

#include <vector>

#include "agent/calls/trees/flat_source.h"
#include "agent/trace/chunk_source.h"

namespace jtrace::calls {
namespace {

// The period of Collect with `reports_deferred`. A killed program loses the calls of twice this
// time.
constexpr uint64_t kDeferredReportPeriodNs = 500'000'000;

// Adds the node's calls that are recorded.
void AddCalls(const NodeUpdate& node, const CallKinds& kinds, proto::TreeDelta& delta) {
  delta.add_calls(kinds.CallsOf(node.routine, node.calls, node.jitted));
  delta.add_jitted(kinds.JittedOf(node.routine, node.jitted));
}

// Whether there is a time to write: not for a node that only logged calls have passed through.
bool HasTime(const NodeUpdate& node) {
  return node.calls != 0 || node.values.base != 0 || node.values.off != 0;
}

// Encodes new and pruned nodes, and the counts of nodes without times.
void EncodeCounts(const TreeUpdate& update, const CallKinds& kinds, bool has_times,
                  const FindCallSite& find_call_site, proto::TreeDelta& delta) {
  trace::DeltaCoder defined;
  trace::DeltaCoder counted;
  trace::DeltaCoder pruned;
  for (const NodeUpdate& node : update.nodes) {
    if (node.is_new) {
      delta.add_new_node(defined.Next(node.node));
      delta.add_new_parent(node.parent);
      delta.add_new_routine(node.routine);
      if (find_call_site != nullptr) {
        delta.add_new_place(find_call_site(node.caller, node.call_site, node.routine));
      }
    }
    if (node.pruned) delta.add_pruned_node(pruned.Next(node.node));
    if (has_times && HasTime(node)) continue;
    delta.add_node(counted.Next(node.node));
    AddCalls(node, kinds, delta);
  }
}

// The greatest is rounded up and the others are rounded down, so that calls * least <= base <=
// calls * greatest.
void EncodeTimes(const TreeUpdate& update, const CallKinds& kinds, const ClockScale& scale,
                 proto::TreeDelta& delta) {
  trace::DeltaCoder counted;
  for (const NodeUpdate& node : update.nodes) {
    if (!HasTime(node)) continue;
    delta.add_node(counted.Next(node.node));
    AddCalls(node, kinds, delta);
    delta.add_base_ns(scale.Nanos(node.values.base));
    delta.add_off_ns(scale.Nanos(node.values.off));
    delta.add_min_base_ns(scale.Nanos(node.values.least));
    delta.add_max_base_ns(scale.NanosUp(node.values.greatest));
  }
}

// Encodes the nodes that have a value of the metric; node 0 is the root.
void EncodeMetrics(const TreeUpdate& update, size_t index, uint32_t name, proto::TreeDelta& delta) {
  trace::DeltaCoder coder;
  proto::NodeMetric* metric = nullptr;
  const auto add = [&](uint32_t node, uint64_t value) {
    if (value == 0) return;
    if (metric == nullptr) metric = delta.add_metric();
    metric->set_name(name);
    metric->add_node(coder.Next(node));
    metric->add_value(static_cast<int64_t>(value));
  };
  add(0, update.root.metrics[index]);
  for (const NodeUpdate& node : update.nodes) add(node.node, node.values.metrics[index]);
}

// `scale`: null without a clock.
void Encode(const TreeUpdate& update, const CallKinds& kinds, const ClockScale* scale,
            const FindCallSite& find_call_site, uint32_t thread, proto::Chunk& chunk) {
  proto::TreeDelta* counts = chunk.add_tree();
  counts->set_thread(thread);
  counts->set_folded_threads(update.members);
  EncodeCounts(update, kinds, scale != nullptr, find_call_site, *counts);
  if (scale == nullptr) return;
  proto::TreeDelta* times = chunk.add_tree();
  times->set_thread(thread);
  times->set_folded_threads(update.members);
  EncodeTimes(update, kinds, *scale, *times);
}

void DefineRoutines(const TreeUpdate& update, trace::RecordEncoder& encoder) {
  std::vector<uint32_t> routines;
  for (const NodeUpdate& node : update.nodes) {
    if (node.is_new && node.routine != 0) routines.push_back(node.routine);
  }
  if (!routines.empty()) encoder.DefineRoutines(routines);
}

}  // namespace

void TreeSource::Poll(proto::Chunk&) { collector_.Poll(); }

void TreeSource::AddChanges(uint64_t time_ns, proto::Chunk& chunk) {
  if (settings_.scale != nullptr) settings_.scale->Update();
  const bool reports_deferred = time_ns - deferred_report_ns_ >= kDeferredReportPeriodNs;
  if (reports_deferred) deferred_report_ns_ = time_ns;
  const auto visit = [&](const TreeUpdate& update) {
    if (update.nodes.empty() && !update.root.any()) return;
    DefineRoutines(update, encoder_);
    const uint32_t thread = update.group != 0 ? groups_.NumberOfGroup(update.group)
                                              : threads_.NumberOfJava(update.java_tid);
    Encode(update, settings_.kinds, settings_.scale, settings_.find_call_site, thread, chunk);
    proto::TreeDelta& delta = *chunk.mutable_tree(chunk.tree_size() - 1);
    for (size_t index = 0; index < settings_.metrics.size(); ++index) {
      EncodeMetrics(update, index, encoder_.String(settings_.metrics[index]), delta);
    }
  };
  collector_.Collect(visit, reports_deferred);
  AddCallsWithoutTree(chunk);
  chunk.set_tree_bytes(collector_.tree_bytes());
  UpdateLosses();
}

void TreeSource::AddCallsWithoutTree(proto::Chunk& chunk) {
  const auto limit = static_cast<uint32_t>(encoder_.routines() + 1);
  const std::vector<RoutineUpdate> updates = collector_.CollectWithoutTree(limit);
  if (updates.empty()) return;
  const FlatUpdate update = {.java_tid = 0, .ended = false, .routines = updates};
  EncodeFlat(update, settings_.kinds, groups_.NumberOfGroup(groups_.NoMemoryGroup()), encoder_,
             chunk);
}

void TreeSource::UpdateLosses() {
  constexpr absl::string_view kAdvice =
      "give more memory (memory=), count fewer methods (include=com.acme.**), or record=flat";
  losses_.Set("tree.pruned_nodes", Severity::kInfo, collector_.pruned_nodes(),
              "call paths dropped to stay within memory=", kAdvice);
  losses_.Set("calls.pruned", Severity::kWarning, collector_.pruned_calls(),
              "calls counted in [pruned] nodes, because memory= was used up", kAdvice);
  losses_.Set("calls.no_memory", Severity::kWarning, collector_.calls_without_tree(),
              "calls of threads without any memory: counted by routine only", kAdvice);
}

}  // namespace jtrace::calls
