// Finds the jmethodID of a HotSpot Method, which outlives it; checks Methods. Async-signal-safe.
#pragma once

#include <cstdint>

#include "agent/samples/walk/chain.h"
#include "agent/samples/walk/vm_layout.h"

namespace jtrace::samples {

// Returns the jmethodID of the Method at `method`, over Method → ConstMethod → ConstantPool →
// InstanceKlass → _methods_jmethod_ids; 0 if it has none (most have none:
// agent/jvm/hotspot/method_reader.h) or if `method` is not a Method. Every load is guarded.
uintptr_t FindMethodId(const VmLayout& vm, uintptr_t method);

// Whether `method` has the shape of a Method; reliable enough together with a second sign.
bool LooksLikeMethod(const VmLayout& vm, uintptr_t method);

// Returns the bytecode index of `bcp` in `method`; -1 if it is not in its bytecodes.
int32_t BytecodeIndex(const VmLayout& vm, uintptr_t method, uintptr_t bcp);

// Whether an interpreter frame of `method` may have this bytecode pointer: one into its bytecodes,
// or for a native method, which has none, 0 or the address where they would begin.
bool MayRun(const VmLayout& vm, uintptr_t method, uintptr_t bcp);

// Pushes a frame of `method`, by its jmethodID or, if it has none or they are not needed, by the
// Method itself with kFrameRawMethod.
void PushMethod(const VmLayout& vm, Chain& chain, FrameKind kind, uintptr_t method, int32_t bci,
                uint8_t flags);

}  // namespace jtrace::samples
