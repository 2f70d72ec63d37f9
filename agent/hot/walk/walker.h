// The stack walker: from an interrupted context to the thread's first frame.
#ifndef JTRACE_AGENT_HOT_WALK_WALKER_H_
#define JTRACE_AGENT_HOT_WALK_WALKER_H_

#include <ucontext.h>

#include <cstdint>

#include "agent/hot/walk/chain.h"
#include "agent/hot/walk/cursor.h"
#include "agent/hot/walk/vm_layout.h"

namespace jtrace::hot {

// Walks the stack of the calling thread, interrupted at `context`, into `chain`. Async-signal-safe.
//
// vm: null for native frames only. java_thread: the thread's JavaThread, or 0. stack: outside of
// it, or if it is not known, at most kGuardedStack bytes are read, every load guarded.
void WalkStack(const VmLayout* vm, uintptr_t java_thread, StackRange stack,
               const ucontext_t* context, Chain& chain);

}  // namespace jtrace::hot

#endif  // JTRACE_AGENT_HOT_WALK_WALKER_H_
