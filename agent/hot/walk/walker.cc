#include "agent/hot/walk/walker.h"

#include "agent/hot/walk/walk_state.h"

namespace jtrace::hot {
namespace {

// A 1 GB stack of the smallest frames is deeper; nothing that terminates in a useful time is.
constexpr int kMaxSteps = 1 << 21;

Step StepJava(WalkState& walk) {
  const VmLayout& vm = *walk.vm;
  const uintptr_t pc = walk.cursor.pc;
  if (pc == vm.continuation_return_barrier) return StepContinuation(walk);
  if (vm.InInterpreter(pc)) return StepInterpreted(walk);
  CodeBlob blob;
  if (!FindBlob(vm, pc, &blob)) return walk.Fail(WalkNote::kNoBlob);
  return blob.IsCompiled() ? StepCompiled(walk, blob) : StepStub(walk, blob);
}

Step StepFrom(WalkState& walk) {
  Cursor& cursor = walk.cursor;
  cursor.step_used_fp = true;
  cursor.step_method = 0;
  const uintptr_t sp = cursor.sp;
  const bool was_interrupted = cursor.interrupted;
  const Step step = walk.InCodeCache(cursor.pc) ? StepJava(walk) : StepNative(walk);
  if (step == Step::kEnd) return step;
  // A signal frame may change stacks; the step out of a leaf may leave sp where it was.
  const bool progress =
      cursor.interrupted || cursor.sp > sp || (cursor.sp == sp && was_interrupted);
  return progress && cursor.sp % 8 == 0 ? step : walk.Fail(WalkNote::kNoProgress);
}

void WalkInFull(WalkState& walk) {
  for (int i = 0; i < kMaxSteps; ++i) {
    if (StepFrom(walk) == Step::kEnd) return;
  }
  walk.Fail(WalkNote::kStepLimit);
}

void WalkWithMemory(WalkState& walk, WalkMemory memory) {
  Step step = Step::kCaller;
  for (int i = 0; i < kMaxSteps && step == Step::kCaller; ++i) {
    if (!walk.cursor.interrupted && memory.Complete(walk.cursor, walk.vm, walk.chain)) break;
    memory.Arrived(walk.cursor);
    step = StepFrom(walk);
    memory.Stepped(walk.cursor, walk.chain.pushed());
    if (i == kMaxSteps - 1) walk.Fail(WalkNote::kStepLimit);
  }
  memory.Finish(walk.chain);
}

}  // namespace

void WalkStack(const VmLayout* vm, const WalkedThread& thread, const ucontext_t* context,
               Chain& chain) {
  WalkState walk{vm, thread.java_thread, thread.stack, Cursor{}, chain, CfiLookup{}};
  walk.cursor.Interrupt(context, thread.stack);
  if (walk.cursor.sp % 8 != 0) {
    chain.Fail(WalkNote::kNoProgress);
  } else if (thread.memory != nullptr) {
    WalkWithMemory(walk, WalkMemory(thread.memory, thread.remembered));
  } else {
    WalkInFull(walk);
  }
}

}  // namespace jtrace::hot
