#include "postproc/calltree/tree_builder.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "postproc/calltree/group_name.h"
#include "postproc/calltree/outside_calls.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
TreeBuilder::TreeBuilder(MergeMode mode, Aggregate aggregate, TraceModel& model, ImportStats& stats)
    : aggregate_(aggregate),
      dropped_(model.InternRoutine("[dropped]")),
      model_(model),
      stats_(stats),
      merger_(mode, model, tree_) {}

NodeId TreeBuilder::RootFor(ThreadId thread) {
  switch (aggregate_) {
    case Aggregate::kThread:
      return tree_.AddRoot(thread);
    case Aggregate::kGroup:
      return RootOfGroup(thread);
    case Aggregate::kProcess:
      return RootOfProcess(model_.thread(thread).trace);
  }
  return NodeId();
}

// A group has the name of its first thread until there is a second one.
NodeId TreeBuilder::RootOfGroup(ThreadId thread) {
  const ThreadInfo info = model_.thread(thread);
  std::string pattern = GroupName(info.name);
  Group& entry = groups_[{info.trace, pattern}];
  if (!entry.root) return entry.root = tree_.AddRoot(thread);
  const auto threads_of = [](const ThreadInfo& it) {
    return std::max<int64_t>(it.folded_threads, 1);
  };
  const ThreadId shown = tree_.node(entry.root).thread;
  const ThreadInfo& first = model_.thread(shown);
  const int64_t threads = WrapAdd(threads_of(first), threads_of(info));
  if (!std::exchange(entry.has_name, true)) {
    ThreadInfo group;
    group.name = std::move(pattern);
    group.trace = info.trace;
    group.is_virtual = first.is_virtual;
    group.is_daemon = first.is_daemon;
    group.is_vm_internal = first.is_vm_internal;
    tree_.SetThread(entry.root, model_.AddThread(std::move(group)));
  }
  model_.thread(tree_.node(entry.root).thread).folded_threads = threads;
  return entry.root;
}

NodeId TreeBuilder::RootOfProcess(uint32_t trace) {
  if (root_of_trace_.size() <= trace) root_of_trace_.resize(trace + size_t{1});
  NodeId& root = root_of_trace_[trace];
  if (root) return root;
  ThreadInfo process;
  const std::string_view pid = model_.traces()[trace].Fact("pid");
  process.name = pid.empty() ? "process" : StrCat("process ", pid);
  process.trace = trace;
  ParseInteger(pid, process.tid);
  root = tree_.AddRoot(model_.AddThread(std::move(process)));
  return root;
}

TreeBuilder::ThreadState& TreeBuilder::StateOf(At at) {
  first_time_ = std::min(first_time_.value_or(at.time), at.time);
  last_time_ = std::max(last_time_, at.time);
  if (state_of_.size() <= at.thread.value) state_of_.resize(at.thread.value + size_t{1});
  uint32_t& index = state_of_[at.thread.value];
  if (index == 0) {
    ThreadState state;
    state.thread = at.thread;
    state.root = RootFor(at.thread);
    state.open_base.push_back(0);
    state.clock = at.time;
    states_.push_back(std::move(state));
    index = static_cast<uint32_t>(states_.size());
  }
  return states_[index - 1];
}

// How long the thread was off up to the state's clock, when this much time passed since the last
// query.
int64_t TreeBuilder::TakeOff(ThreadState& state, int64_t passed) {
  const int64_t since_switch = WrapSub(state.clock, state.switch_time);
  const int64_t off = state.off ? WrapAdd(state.off_before, since_switch) : state.off_before;
  state.off_before = 0;
  state.switch_time = state.clock;
  state.switched = state.off;
  return std::clamp<int64_t>(off, 0, std::max<int64_t>(passed, 0));
}

void TreeBuilder::BecomeEvent(NodeId id) {
  tree_.BecomeEvent(id, model_.TraitsOf(tree_.routine(id)).cost == RoutineCost::kUserInput);
}

[[gnu::always_inline]] inline void TreeBuilder::Enter(ThreadState& state, RoutineId routine,
                                                      CodeKind kind) {
  const NodeId id = tree_.EnterChild(Current(state), routine);
  if (tree_.calls(id) == 0) BecomeEvent(id);
  tree_.AddCalls(id, 1, kind == CodeKind::kJitted ? 1 : 0);
  state.open.push_back(id);
  state.open_base.push_back(0);
}

[[gnu::always_inline]] inline void TreeBuilder::Exit(ThreadState& state, RoutineId routine) {
  if (!state.open.empty() && tree_.routine(state.open.back()) == routine) {
    CloseInnermost(state);
  } else {
    CloseDownTo(state, routine);
  }
}

void TreeBuilder::CloseDownTo(ThreadState& state, RoutineId routine) {
  state.matcher.Start(state.open, tree_);
  const size_t innermost = state.matcher.Match(routine);
  if (innermost == FrameMatcher::kNoMatch) {
    stats_.Add(Problem::kUnmatchedExit);
    return;
  }
  while (state.open.size() > innermost) CloseInnermost(state);
}

void TreeBuilder::OnEnter(At at, RoutineId routine, CodeKind kind) {
  ThreadState& state = StateOf(at);
  AdvanceClock(state, at.time);
  position_room_ += kStepsPerRecord;
  Enter(state, routine, kind);
}

void TreeBuilder::OnExit(At at, RoutineId routine, CodeKind) {
  ThreadState& state = StateOf(at);
  AdvanceClock(state, at.time);
  position_room_ += kStepsPerRecord;
  Exit(state, routine);
}

void TreeBuilder::OnCalls(ThreadId thread, absl::Span<const CallRecord> calls) {
  if (calls.empty()) return;
  ThreadState& state = StateOf({calls.front().time, thread});
  last_time_ = std::max(last_time_, calls.back().time);
  position_room_ += kStepsPerRecord * calls.size();
  for (const CallRecord& call : calls) {
    AdvanceClock(state, call.time);
    if (call.is_exit) {
      Exit(state, call.routine);
    } else {
      Enter(state, call.routine, call.kind);
    }
  }
}

// The calls left out took the time since the thread's last event.
void TreeBuilder::OnDropped(At at, int64_t) {
  ThreadState& state = StateOf(at);
  const NodeId dropped = tree_.Child(Current(state), dropped_);
  tree_.SetOriginEvent(dropped);
  const int64_t passed = WrapSub(at.time, state.clock);
  state.clock = at.time;
  const int64_t off = state.switched ? TakeOff(state, passed) : 0;
  tree_.AddOff(dropped, off);
  tree_.AddBase(dropped, WrapSub(passed, off));
}

void TreeBuilder::OnPosition(At at, absl::Span<const PathStep> path, size_t shared) {
  ThreadState& state = StateOf(at);
  AdvanceClock(state, at.time);
  size_t same = std::min(shared, state.kept);
  // The number of records bounds how much is compared and opened again.
  position_room_ += kStepsPerRecord + (path.size() - shared);
  const size_t steps = path.size() - same;
  if (steps > position_room_) {
    state.kept = 0;
    stats_.Add(Problem::kFarPosition);
    return;
  }
  position_room_ -= steps;
  const size_t most = std::min(path.size(), state.open.size());
  while (same < most && tree_.routine(state.open[same]) == path[same]) ++same;
  while (state.open.size() > same) CloseInnermost(state);
  for (const RoutineId routine : path.subspan(same)) {
    const NodeId id = tree_.Child(Current(state), routine);
    if (tree_.origin(id) != NodeOrigin::kEvent) BecomeEvent(id);
    state.open.push_back(id);
    state.open_base.push_back(0);
  }
  state.kept = path.size();
}

// Trees that the agent built have their times already.
bool TreeBuilder::HasLog(ThreadId thread) const {
  const uint32_t trace = model_.thread(thread).trace;
  if (trace >= model_.traces().size()) return true;
  const std::string_view record = model_.traces()[trace].Fact("record");
  return record.empty() || record == "log";
}

// The owner of the time is known at the thread's next event: a stretch may have been left out.
void TreeBuilder::OnSwitch(At at, bool on) {
  ThreadState& state = StateOf(at);
  if (!HasLog(at.thread)) return;
  if (state.off) state.off_before = WrapAdd(state.off_before, WrapSub(at.time, state.switch_time));
  state.switch_time = at.time;
  state.switched = true;
  state.off = !on;
}

void TreeBuilder::FindPath(NodeId root, absl::Span<const PathStep> path, size_t shared) {
  size_t same = 0;
  if (root == path_root_) {
    const size_t most = std::min(path.size(), path_steps_.size());
    same = std::min(shared, most);
    while (same < most && path[same] == path_steps_[same]) ++same;
  }
  path_root_ = root;
  path_steps_.resize(same);
  path_nodes_.resize(same);
  for (const PathStep step : path.subspan(same)) {
    // A thread's root calls from nowhere.
    const NodeId at = path_nodes_.empty() ? tree_.Child(root, step.routine)
                                          : tree_.Child(path_nodes_.back(), step.routine,
                                                        ChildSpace::kMerged, step.place);
    BecomeEvent(at);
    path_steps_.push_back(step);
    path_nodes_.push_back(at);
  }
}

void TreeBuilder::OnSample(At at, const SampleRecord& sample) {
  ThreadState& state = StateOf(at);
  if (!sample.is_unwind) ++state.samples;
  if (sample.has_path) {
    FindPath(state.root, sample.path, 0);
    std::unique_ptr<FrameMatcher>& matcher = path_matchers_[state.root];
    if (matcher == nullptr) matcher = std::make_unique<FrameMatcher>();
    merger_.Merge(state.root, path_nodes_, *matcher, sample);
  } else {
    merger_.Merge(state.root, state.open, state.matcher, sample);
  }
}

void TreeBuilder::OnMetric(At at, MetricId metric, int64_t delta) {
  ThreadState& state = StateOf(at);
  tree_.AddMetric(Current(state), metric, delta);
}

void TreeBuilder::OnNode(At at, const NodeCounts& counts, absl::Span<const PathStep> path,
                         size_t shared) {
  ThreadState& state = StateOf(at);
  FindPath(state.root, path, shared);
  const NodeId id = path_nodes_.empty() ? state.root : path_nodes_.back();
  tree_.AddCalls(id, counts.calls.value_or(0), counts.calls_jitted.value_or(0));
  const bool waits = tree_.waits_for_user(id);
  tree_.AddOff(id, counts.off.value_or(0));
  if (waits) {
    tree_.AddOff(id, counts.base.value_or(0));
    tree_.AddExtremes(id, 0, 0);
  } else {
    tree_.AddBase(id, counts.base.value_or(0));
    if (counts.min.has_value() || counts.max.has_value()) {
      tree_.AddExtremes(id, counts.min.value_or(counts.max.value_or(0)),
                        counts.max.value_or(counts.min.value_or(0)));
    }
  }
  for (const auto& [metric, value] : counts.metrics) tree_.AddMetric(id, metric, value);
  for (const NodeBlocks& blocks : counts.blocks) {
    blocks_.push_back({id, model_.thread(at.thread).trace, blocks});
  }
}

NodeId TreeBuilder::NodeWithoutPath(RoutineId routine) {
  if (!without_path_) {
    ThreadInfo info;
    info.name = "[all threads]";
    without_path_ = model_.AddThread(std::move(info));
  }
  const NodeId id = tree_.Child(StateOf({last_time_, without_path_}).root, routine);
  BecomeEvent(id);
  return id;
}

// Their times are not part of the tree: it has no times of native code, and the callers' times
// include them already.
void TreeBuilder::OnHook(At at, const HookRecord& hook) {
  ThreadState& state = StateOf(at);
  FindPath(state.root, hook.path, 0);
  NodeId caller = path_nodes_.empty() ? state.root : path_nodes_.back();
  for (const FrameId jumped : hook.jumped) {
    caller = tree_.Child(caller, model_.frame(jumped).routine);
    BecomeEvent(caller);
  }
  const NodeId hooked = tree_.Child(caller, model_.frame(hook.hook).routine);
  BecomeEvent(hooked);
  tree_.AddCalls(hooked, hook.sums.calls, 0);
}

void TreeBuilder::OnNotice(At at, std::string_view, absl::Span<const std::string>) {
  if (at.thread) StateOf(at);
}

void TreeBuilder::Finish() {
  for (ThreadState& state : states_) {
    if (state.switched) AdvanceClock(state, state.switch_time);
    while (!state.open_base.empty()) CloseInnermost(state);
  }
  // A log without a clock has the times at which it was collected: order, not durations.
  std::vector<bool> untimed;
  for (const TraceInfo& trace : model_.traces()) {
    untimed.push_back(trace.Fact("clock") == "none" && trace.Fact("record") == "log");
  }
  tree_.ForgetTimes([&](ThreadId id) {
    const uint32_t trace = model_.thread(id).trace;
    return trace < untimed.size() && untimed[trace];
  });
  NoteOutsideCalls(model_, tree_);
  for (uint32_t i = 1; i <= model_.routine_count(); ++i) {
    const RoutineTraits traits = model_.TraitsOf(RoutineId(i));
    if (traits.cycles == 0 && traits.millicycles_per_element == 0) continue;
    return AddOutsideCycles(model_, model_.InternMetric(kOutsideCycles), tree_);
  }
}

std::vector<ThreadSummary> TreeBuilder::Threads() const {
  std::vector<ThreadSummary> threads;
  if (aggregate_ != Aggregate::kThread) {
    absl::flat_hash_map<NodeId, size_t> index;
    for (const NodeId root : tree_.roots()) {
      index[root] = threads.size();
      threads.push_back({tree_.node(root).thread, root, 0});
    }
    for (const ThreadState& state : states_) threads[index.at(state.root)].samples += state.samples;
    return threads;
  }
  for (const ThreadState& state : states_) {
    threads.push_back({state.thread, state.root, state.samples});
  }
  return threads;
}

bool TreeBuilder::Fits(const ThreadState& state, const ReducedCalls& calls) const {
  const size_t ended = calls.outside.size() - 1;
  if (ended > state.open.size()) return false;
  for (size_t i = 0; i < ended; ++i) {
    const NodeId open = state.open[state.open.size() - 1 - i];
    if (tree_.routine(open) != calls.nodes[calls.outside[i]].routine) return false;
  }
  // Off time before the run belongs to the time before the first call.
  return !state.off;
}

// The values that nodes got in the run, and activations that were open before it.
void TreeBuilder::AddReducedNodes(const ThreadState& state, const ReducedCalls& calls) {
  reduced_nodes_.clear();
  size_t level = state.open.size();
  for (const ReducedCalls::Node& from : calls.nodes) {
    NodeId id;
    if (from.parent == ReducedCalls::kNoNode) {
      id = level == 0 ? state.root : state.open[level - 1];
      --level;
    } else {
      id = tree_.EnterChild(reduced_nodes_[from.parent], from.routine);
    }
    reduced_nodes_.push_back(id);
    if (from.calls != 0 && tree_.calls(id) == 0) BecomeEvent(id);
    tree_.AddCalls(id, from.calls, from.calls_jitted);
    const bool waits = tree_.waits_for_user(id);
    if (waits) {
      tree_.AddOff(id, from.base);
    } else {
      tree_.AddBase(id, from.base);
    }
    if (from.min_base > from.max_base) continue;
    tree_.AddExtremes(id, waits ? 0 : from.min_base, waits ? 0 : from.max_base);
  }
}

// Ends the earlier activations that the run ended, and opens those that it left open.
void TreeBuilder::EndReduced(ThreadState& state, const ReducedCalls& calls) {
  const auto add_time = [&](NodeId id, int64_t base) {
    int64_t& open = state.open_base.back();
    if (!tree_.waits_for_user(id)) open = WrapAdd(open, base);
  };
  for (size_t i = 0; i < calls.outside.size(); ++i) {
    if (i > 0) CloseInnermost(state);
    add_time(Current(state), calls.nodes[calls.outside[i]].base);
  }
  for (const ReducedCalls::Open& open : calls.open) {
    const NodeId id = reduced_nodes_[open.node];
    state.open.push_back(id);
    state.open_base.push_back(0);
    add_time(id, open.base);
  }
}

void TreeBuilder::OnReducedCalls(ThreadId thread, const ReducedCalls& calls,
                                 absl::FunctionRef<void(RecordVisitor&)> one_by_one) {
  ThreadState& state = StateOf({calls.first_time, thread});
  if (!Fits(state, calls)) return one_by_one(*this);
  last_time_ = std::max(last_time_, calls.last_time);
  position_room_ += kStepsPerRecord * static_cast<size_t>(calls.calls());
  AdvanceClock(state, calls.first_time);
  AddReducedNodes(state, calls);
  EndReduced(state, calls);
  state.clock = calls.last_time;
}

}  // namespace jtrace::postproc
