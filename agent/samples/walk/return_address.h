// Distinguishes return addresses from stale words on the stack.
#pragma once

#include <cstdint>

#include "agent/samples/walk/cursor.h"
#include "agent/samples/walk/walk_state.h"

namespace jtrace::samples {

// The callers that a frame can have: only code in the code cache, or native code too.
enum class Callers { kJava, kAny };

// Whether `value` can be a return address: it is in code after a call, or at a place that the JVM
// returns to without one (a safepoint poll, a deoptimisation handler).
bool IsReturnAddress(const WalkState& walk, uintptr_t value, Callers callers);

// Whether a caller with these registers has a plausible caller itself: the second sign for guesses.
bool CallerLooksValid(const WalkState& walk, uintptr_t pc, uintptr_t sp, uintptr_t fp);

// Moves to the caller if the word at `slot` is a return address; sp is above it then.
bool ReturnThrough(WalkState& walk, uintptr_t slot, SavedFp caller_fp, Callers callers);

// Moves to the caller over a frame that rbp links: return address at rbp + 8, caller's rbp at rbp.
bool ReturnThroughFp(WalkState& walk, Callers callers);

// Moves to the first caller found in `words` words from `slot` on. It needs both signs, and the
// chain is marked as guessed.
bool ReturnByScan(WalkState& walk, uintptr_t slot, int words, Callers callers);

// Whether `pc` is one of the nmethod's deoptimisation handlers. If a return address was patched to
// one, the original is kept in the frame.
bool IsDeoptHandler(const VmLayout& vm, const CodeBlob& nmethod, uintptr_t pc);

}  // namespace jtrace::samples
