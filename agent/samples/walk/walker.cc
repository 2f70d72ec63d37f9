#include "agent/samples/walk/walker.h"

#include "agent/samples/walk/cursor.h"
#include "agent/samples/walk/frame_cache.h"
#include "agent/samples/walk/jmethod_ids.h"
#include "agent/samples/walk/walk_state.h"

namespace jtrace::samples {

constinit const bool kWalksStacks = true;

namespace {

// A bound for walks that do not end. A stack of 1 GB can have more frames; no real one has.
constexpr int kMaxSteps = 1 << 21;

Step StepJava(WalkState& walk) {
  const VmLayout& vm = *walk.vm;
  const uintptr_t pc = walk.cursor.pc;
  if (pc == vm.continuation_return_barrier.load(std::memory_order_relaxed)) {
    return StepContinuation(walk);
  }
  if (vm.InInterpreter(pc)) return StepInterpreted(walk);
  if (StepCached(walk)) return Step::kCaller;
  CodeBlob blob;
  if (!FindBlob(vm, pc, &blob)) return walk.Fail(MissingReason::kNoBlob);
  return blob.IsCompiled() ? StepCompiled(walk, blob) : StepStub(walk, blob);
}

Step StepFrom(WalkState& walk) {
  Cursor& cursor = walk.cursor;
  cursor.step_used_fp = true;
  cursor.step_used_bx = false;
  cursor.step_method = 0;
  const uintptr_t sp = cursor.sp;
  const bool was_interrupted = cursor.interrupted;
  const Step step = walk.InCodeCache(cursor.pc) ? StepJava(walk) : StepNative(walk);
  if (step == Step::kEnd) return step;
  // A signal frame may change stacks; the step out of a leaf may leave sp where it was.
  const bool progress =
      cursor.interrupted || cursor.sp > sp || (cursor.sp == sp && was_interrupted);
  return progress && cursor.sp % 8 == 0 ? step : walk.Fail(MissingReason::kNoProgress);
}

void WalkInFull(WalkState& walk) {
  for (int i = 0; i < kMaxSteps; ++i) {
    if (StepFrom(walk) == Step::kEnd) return;
  }
  walk.Fail(MissingReason::kStepLimit);
}

void WalkFromLast(WalkState& walk, LastWalk last) {
  walk.last_walk = &last;
  Step step = Step::kCaller;
  for (int i = 0; i < kMaxSteps && step == Step::kCaller; ++i) {
    if (!walk.cursor.interrupted && last.Complete(walk.cursor, walk.vm, walk.chain)) break;
    last.BeginStep(walk.cursor);
    step = StepFrom(walk);
    last.EndStep(walk.cursor, walk.chain.pushed());
    if (i == kMaxSteps - 1 && step == Step::kCaller) walk.Fail(MissingReason::kStepLimit);
  }
  last.Finish(walk.chain);
  walk.last_walk = nullptr;
}

WalkState Begin(const VmLayout* vm, const WalkedThread& thread, const ucontext_t* context,
                Chain& chain) {
  WalkState walk{vm, thread.java_thread, thread.stack, Cursor{}, chain, CfiLookup{}};
  walk.wants_ids = thread.wants_ids;
  walk.cursor.SetInterrupted(context, thread.stack);
  if (thread.memory != nullptr) PrefetchCachedFrame(walk.cursor.pc, true);
  return walk;
}

// Returns the index of the first of the chain's frames that is `wanted`; pushed() if none is.
template <typename Wanted>
uint32_t FindFrame(const Chain& chain, Wanted wanted) {
  uint32_t i = 0;
  while (i < chain.pushed() && !wanted(chain.pushed_frame(i))) ++i;
  return i;
}

// Walks to the innermost frame that is `wanted`, and keeps only that.
template <typename Wanted>
void WalkTo(WalkState& walk, Wanted wanted) {
  Chain& chain = walk.chain;
  for (int i = 0; i < kMaxSteps; ++i) {
    const Step step = StepFrom(walk);
    const uint32_t found = FindFrame(chain, wanted);
    if (found < chain.pushed()) return chain.KeepOnly(found);
    if (chain.failure() != MissingReason::kNone) {
      chain.Clear();
      return chain.PushMarker(chain.failure());
    }
    chain.Clear();
    if (step == Step::kEnd) return;
  }
  walk.Fail(MissingReason::kStepLimit);
}

}  // namespace

void WalkTopFrame(const VmLayout* vm, const WalkedThread& thread, const ucontext_t* context,
                  Chain& chain) {
  WalkState walk = Begin(vm, thread, context, chain);
  StepFrom(walk);
  if (chain.pushed() != 0 && chain.pushed_frame(0).kind != FrameKind::kMarker) chain.KeepOnly(0);
}

void WalkToApplication(const VmLayout* vm, const WalkedThread& thread, const ucontext_t* context,
                       const signal_safe::AddressTable& application, Chain& chain) {
  WalkState walk = Begin(vm, thread, context, chain);
  WalkTo(walk, [&](const Frame& frame) {
    return frame.kind != FrameKind::kMarker && IsApplication(frame, application);
  });
}

void WalkToJava(const VmLayout* vm, const WalkedThread& thread, const ucontext_t* context,
                Chain& chain) {
  WalkState walk = Begin(vm, thread, context, chain);
  WalkTo(walk, IsJava);
}

void WalkStack(const VmLayout* vm, const WalkedThread& thread, const ucontext_t* context,
               Chain& chain) {
  WalkState walk = Begin(vm, thread, context, chain);
  if (walk.cursor.sp % 8 != 0) {
    chain.Fail(MissingReason::kNoProgress);
  } else if (thread.memory != nullptr) {
    WalkFromLast(walk, LastWalk(thread.memory, thread.remembered));
  } else {
    WalkInFull(walk);
  }
}

}  // namespace jtrace::samples
