// State that the parts of the walker share during one walk.
#pragma once

#include <cstdint>

#include "agent/samples/walk/cfi.h"
#include "agent/samples/walk/chain.h"
#include "agent/samples/walk/code_cache.h"
#include "agent/samples/walk/cursor.h"
#include "agent/samples/walk/last_walk.h"
#include "agent/samples/walk/vm_layout.h"

namespace jtrace::samples {

// The result of one step of a walk.
enum class Step {
  kCaller,  // the cursor is at the caller
  kEnd,     // the chain is complete, or chain.Fail recorded why not
};

struct WalkState {
  const VmLayout* vm;     // null: native frames only
  uintptr_t java_thread;  // 0: not a Java thread
  StackRange stack;
  Cursor cursor;
  Chain& chain;
  CfiLookup cfi;
  // Null: the results of earlier walks are not used.
  const LastWalk* last_walk = nullptr;
  bool wants_ids = false;  // WalkedThread::wants_ids

  bool InCodeCache(uintptr_t pc) const { return vm != nullptr && vm->InCodeCache(pc); }
  Step Fail(MissingReason reason) {
    chain.Fail(reason);
    return Step::kEnd;
  }
};

// The steps, by the code that covers the cursor's pc. Each pushes the frame (with the methods
// inlined into it) and moves the cursor to the caller.
Step StepNative(WalkState& walk);
// Steps out of a compiled frame that the cache has (frame_cache.h), without a look at its nmethod.
// Returns false, and pushes nothing, if the cache does not have it.
bool StepCached(WalkState& walk);
Step StepCompiled(WalkState& walk, const CodeBlob& blob);
Step StepInterpreted(WalkState& walk);
Step StepStub(WalkState& walk, const CodeBlob& blob);
// The pc is the continuation return barrier: the virtual thread's other frames are frozen in the
// heap. Pushes a marker for them, and moves to the carrier's frames.
Step StepContinuation(WalkState& walk);

// The layout of an interpreter frame.

// In bytes from rbp. The caller's rsp is kept separately because the callee extends the caller's
// expression stack by its locals.
inline constexpr intptr_t kInterpreterReturnAddress = 8;
inline constexpr intptr_t kInterpreterSenderSp = -8;
inline constexpr intptr_t kInterpreterMethod = -24;
inline constexpr intptr_t kInterpreterBytecodePointer = -64;

}  // namespace jtrace::samples
