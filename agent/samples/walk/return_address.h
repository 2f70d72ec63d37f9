// Distinguishes return addresses from stale words on the stack.
#pragma once

#include <cstdint>

#include "agent/samples/walk/cursor.h"
#include "agent/samples/walk/walk_state.h"

namespace jtrace::samples {

// The callers that a frame can have: only code in the code cache, or native code as well.
enum class Callers { kJava, kAny };

// Whether `value` can be a return address: it is in code after a call, or at a place that the JVM
// returns to without one (a safepoint poll, a deoptimisation handler).
bool IsReturnAddress(const WalkState& walk, uintptr_t value, Callers callers);

// Whether a frame that was called from (pc, sp, fp) would itself find a plausible caller: the
// second sign that a guessed return address needs.
bool CallerLooksValid(const WalkState& walk, uintptr_t pc, uintptr_t sp, uintptr_t fp);

// Moves to the caller if the word at `slot` is a return address; sp is above it then.
bool ReturnThrough(WalkState& walk, uintptr_t slot, SavedFp caller_fp, Callers callers);

// Moves to the caller over a frame that rbp links: return address at rbp + 8, caller's rbp at rbp.
bool ReturnThroughFp(WalkState& walk, Callers callers);

// Searches for a return address in `words` words from `slot` on; needs both signs, and the chain is
// marked as guessed.
bool ReturnByScan(WalkState& walk, uintptr_t slot, int words, Callers callers);

// The nmethod's deoptimisation handlers: a return address that was patched to one means that the
// frame's own pc is kept in the frame.
bool IsDeoptHandler(const VmLayout& vm, const CodeBlob& nmethod, uintptr_t pc);

}  // namespace jtrace::samples
