#include "postproc/reader/call_reducer.h"

#include <algorithm>
#include <utility>

#include "proto/trace_format.h"

namespace jtrace::postproc {

void CallReducer::Begin(int64_t time) {
  run_ = {};
  open_.clear();
  children_.clear();
  run_.first_time = run_.last_time = time;
  AddOutside();
}

void CallReducer::AddOutside() {
  run_.outside.push_back(static_cast<uint32_t>(run_.nodes.size()));
  run_.nodes.emplace_back();
}

inline void CallReducer::Advance(int64_t time) {
  if (time <= run_.last_time) return;
  const int64_t passed = time - run_.last_time;
  run_.last_time = time;
  run_.nodes[current()].base += passed;
  if (!open_.empty()) open_.back().base += passed;
}

uint32_t CallReducer::Child(uint32_t parent, RoutineId routine) {
  const uint64_t key = uint64_t{parent} << 32 | routine.value;
  const auto [entry, inserted] =
      children_.try_emplace(key, static_cast<uint32_t>(run_.nodes.size()));
  if (inserted) {
    ReducedCalls::Node& child = run_.nodes.emplace_back();
    child.routine = routine;
    child.parent = parent;
  }
  return entry->second;
}

inline void CallReducer::Enter(RoutineId routine, bool jitted) {
  const uint32_t parent = current();
  const uint32_t recent = run_.nodes[parent].recent_child;
  uint32_t child = recent;
  if (recent == ReducedCalls::kNoNode || run_.nodes[recent].routine != routine) {
    child = recent == ReducedCalls::kNoNode ? recent : run_.nodes[recent].follower;
    if (child == ReducedCalls::kNoNode || run_.nodes[child].routine != routine) {
      child = Child(parent, routine);
      if (recent != ReducedCalls::kNoNode) run_.nodes[recent].follower = child;
    }
    run_.nodes[parent].recent_child = child;
  }
  ReducedCalls::Node& node = run_.nodes[child];
  ++node.calls;
  node.calls_jitted += jitted;
  open_.push_back({child, 0});
}

inline void CallReducer::CloseInnermost() {
  const ReducedCalls::Open& innermost = open_.back();
  ReducedCalls::Node& node = run_.nodes[innermost.node];
  node.min_base = std::min(node.min_base, innermost.base);
  node.max_base = std::max(node.max_base, innermost.base);
  open_.pop_back();
}

// False, with nothing changed, if it is not known what it ends.
inline bool CallReducer::Exit(RoutineId routine, int64_t time) {
  if (open_.empty()) {
    Advance(time);
    run_.nodes[run_.outside.back()].routine = routine;
    AddOutside();
    return true;
  }
  if (run_.nodes[open_.back().node].routine == routine) {
    Advance(time);
    CloseInnermost();
    return true;
  }
  const auto innermost = std::find_if(
      open_.rbegin(), open_.rend(),
      [&](const ReducedCalls::Open& it) { return run_.nodes[it.node].routine == routine; });
  if (innermost == open_.rend()) return false;
  Advance(time);
  for (auto closing = innermost - open_.rbegin() + 1; closing > 0; --closing) CloseInnermost();
  return true;
}

size_t CallReducer::Add(absl::Span<const LogCall> calls) {
  for (size_t i = 0; i < calls.size(); ++i) {
    const LogCall& call = calls[i];
    const RoutineId routine = definitions_.KnownRoutine(call.op >> format::kLogRoutineShift);
    if (!routine) return i;
    const bool jitted = (call.op & format::kLogJitted) != 0;
    if ((call.op & format::kLogExit) != 0) {
      if (!Exit(routine, call.time)) return i;
      ++run_.exits[jitted];
    } else {
      Advance(call.time);
      Enter(routine, jitted);
      ++run_.enters[jitted];
    }
  }
  return calls.size();
}

ReducedCalls CallReducer::Take() {
  run_.open = std::move(open_);
  return std::move(run_);
}

}  // namespace jtrace::postproc
