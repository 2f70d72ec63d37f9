// Calls of native functions that hooks counted (0x33), by caller.
#pragma once

#include <utility>

#include "absl/container/btree_map.h"
#include "postproc/model/record_visitor.h"

namespace jtrace::postproc {

class HookLog : public RecordVisitor {
 public:
  struct Caller {
    ThreadId thread;  // none: threads are not distinguished
    RoutineId java;   // the thread's innermost event node at the call; none: its root
    FrameId native;   // none: unknown
    // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 sees a 0 in the defaulted operator.
    friend auto operator<=>(const Caller&, const Caller&) = default;
  };
  using Callers = absl::btree_map<Caller, HookSums>;
  // A function may be hooked twice, one after the other, in different ways.
  using Key = std::pair<FrameId, HookKind>;

  explicit HookLog(bool by_thread) : by_thread_(by_thread) {}

  void OnCalls(ThreadId, absl::Span<const CallRecord>) override {}
  void OnReducedCalls(ThreadId, const ReducedCalls&,
                      absl::FunctionRef<void(RecordVisitor&)>) override {}
  void OnHook(At at, const HookRecord& hook) override {
    const Caller caller = {by_thread_ ? at.thread : ThreadId(),
                           hook.path.empty() ? RoutineId() : hook.path.back().routine, hook.caller};
    hooks_[{hook.hook, hook.kind}][caller].Add(hook.sums);
  }

  // Hooks that were called; TraceInfo::hooks has all.
  const absl::btree_map<Key, Callers>& hooks() const { return hooks_; }
  bool by_thread() const { return by_thread_; }

 private:
  const bool by_thread_;
  absl::btree_map<Key, Callers> hooks_;
};

}  // namespace jtrace::postproc
