// The stack walker: from an interrupted context to the thread's first frame.
#ifndef JTRACE_AGENT_HOT_WALK_WALKER_H_
#define JTRACE_AGENT_HOT_WALK_WALKER_H_

#include <ucontext.h>

#include <cstdint>

#include "agent/hot/walk/chain.h"
#include "agent/hot/walk/cursor.h"
#include "agent/hot/walk/vm_layout.h"
#include "agent/hot/walk/walk_memory.h"

namespace jtrace::hot {

// The thread whose stack is walked.
struct WalkedThread {
  uintptr_t java_thread;  // its JavaThread, or 0
  StackRange stack;
  // The thread's last walk; null: none is kept. `remembered`: frames in it, 0 at first.
  WalkMemory::Storage* memory;
  uint32_t* remembered;
};

// Walks the stack of the calling thread, interrupted at `context`, into `chain`. Async-signal-safe.
//
// vm: null for native frames only. Outside of the thread's stack, or if that is not known, at most
// kGuardedStack bytes are read, every load guarded.
void WalkStack(const VmLayout* vm, const WalkedThread& thread, const ucontext_t* context,
               Chain& chain);

}  // namespace jtrace::hot

#endif  // JTRACE_AGENT_HOT_WALK_WALKER_H_
