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

}  // namespace

void WalkStack(const VmLayout* vm, uintptr_t java_thread, StackRange stack,
               const ucontext_t* context, Chain& chain) {
  WalkState walk{vm, java_thread, stack, Cursor{}, chain, CfiLookup{}};
  Cursor& cursor = walk.cursor;
  cursor.Interrupt(context, stack);
  if (cursor.sp % 8 != 0) {
    chain.Fail(WalkNote::kNoProgress);
    return;
  }
  for (int i = 0; i < kMaxSteps; ++i) {
    const uintptr_t sp = cursor.sp;
    const bool was_interrupted = cursor.interrupted;
    const Step step = walk.InCodeCache(cursor.pc) ? StepJava(walk) : StepNative(walk);
    if (step == Step::kEnd) return;
    // A signal frame may change stacks; the step out of a leaf may leave sp where it was.
    const bool progress =
        cursor.interrupted || cursor.sp > sp || (cursor.sp == sp && was_interrupted);
    if (!progress || cursor.sp % 8 != 0) {
      chain.Fail(WalkNote::kNoProgress);
      return;
    }
  }
  chain.Fail(WalkNote::kStepLimit);
}

}  // namespace jtrace::hot
