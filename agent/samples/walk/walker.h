// The async-signal-safe stack walker: from an interrupted context to the thread's first frame.
#pragma once

#include <ucontext.h>

#include <cstdint>

#include "agent/samples/walk/chain.h"
#include "agent/samples/walk/cursor.h"
#include "agent/samples/walk/last_walk.h"
#include "agent/samples/walk/vm_layout.h"
#include "agent/signal_safe/address_table.h"

namespace jtrace::samples {

// The thread whose stack is walked.
struct WalkedThread {
  uintptr_t java_thread;  // its JavaThread, or 0
  StackRange stack;
  // The thread's last walk, and the number of frames in it, 0 at first; null: none is kept.
  LastWalk::Storage* memory;
  uint32_t* remembered;
  // Frames of methods that have jmethodIDs must have these, not their Methods.
  bool wants_ids = false;
};

// Walks the stack of the calling thread, interrupted at `context`, into `chain`.
//
// vm: null for native frames only. Outside of the thread's stack, or if that is not known, at most
// kMaxUnboundedStackBytes bytes are read, every load guarded.
void WalkStack(const VmLayout* vm, const WalkedThread& thread, const ucontext_t* context,
               Chain& chain);

// The next functions find one frame, and walk no further than that; `chain` must be empty.
//
// Pushes the code at the interrupted pc: a compiled method (no inlined one), a stub, or an address.
void WalkPc(const VmLayout* vm, const ucontext_t* context, Chain& chain);
// Pushes the interrupted frame; of inlined methods the innermost.
void WalkTopFrame(const VmLayout* vm, const WalkedThread& thread, const ucontext_t* context,
                  Chain& chain);
// Pushes the innermost frame whose method is in `application`; nothing if there is none.
void WalkToApplication(const VmLayout* vm, const WalkedThread& thread, const ucontext_t* context,
                       const signal_safe::AddressTable& application, Chain& chain);

// Pushes the innermost frame of a Java method; nothing if there is none.
void WalkToJava(const VmLayout* vm, const WalkedThread& thread, const ucontext_t* context,
                Chain& chain);

// Whether a frame is a method of `application`, or a marker, which stands for unknown frames.
bool IsApplication(const Frame& frame, const signal_safe::AddressTable& application);

// What the walker can do on this processor.

// Whether it finds a frame's caller. If not, only WalkPc has a result (stack=pc).
extern const bool kWalksStacks;

}  // namespace jtrace::samples
