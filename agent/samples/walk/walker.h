// The stack walker: from an interrupted context to the thread's first frame.
#pragma once

#include <ucontext.h>

#include <cstdint>

#include "agent/samples/walk/chain.h"
#include "agent/samples/walk/cursor.h"
#include "agent/samples/walk/vm_layout.h"
#include "agent/samples/walk/walk_memory.h"
#include "agent/signal_safe/address_table.h"

namespace jtrace::samples {

// The thread whose stack is walked.
struct WalkedThread {
  uintptr_t java_thread;  // its JavaThread, or 0
  StackRange stack;
  // The thread's last walk; null: none is kept. `remembered`: frames in it, 0 at first.
  WalkMemory::Storage* memory;
  uint32_t* remembered;
  // Frames of methods that have jmethodIDs must have these, not their Methods.
  bool wants_ids = false;
};

// Walks the stack of the calling thread, interrupted at `context`, into `chain`. Async-signal-safe.
//
// vm: null for native frames only. Outside of the thread's stack, or if that is not known, at most
// kGuardedStack bytes are read, every load guarded.
void WalkStack(const VmLayout* vm, const WalkedThread& thread, const ucontext_t* context,
               Chain& chain);

// Parts of it, each by its own first frames only; `chain` must be empty. A part that could not be
// found is a failed chain.
//
// The code at the interrupted pc: a compiled method without the methods inlined into it, a stub, an
// address.
void WalkPc(const VmLayout* vm, const ucontext_t* context, Chain& chain);
// The interrupted frame, the innermost if methods are inlined.
void WalkTopFrame(const VmLayout* vm, const WalkedThread& thread, const ucontext_t* context,
                  Chain& chain);
// The innermost frame whose method is in `application`; none if there is none.
void WalkToApplication(const VmLayout* vm, const WalkedThread& thread, const ucontext_t* context,
                       const signal_safe::AddressTable& application, Chain& chain);

// The innermost frame of a Java method; none if there is none or it was not found.
void WalkToJava(const VmLayout* vm, const WalkedThread& thread, const ucontext_t* context,
                Chain& chain);

// Whether a frame is a method of `application` or a marker: frames that represent unknown code are
// in no scope.
bool IsApplication(const Frame& frame, const signal_safe::AddressTable& application);

// What the walker can do on this processor.

// Whether it finds a frame's caller. Otherwise WalkPc alone has a result: stack=pc.
extern const bool kWalksStacks;

}  // namespace jtrace::samples
