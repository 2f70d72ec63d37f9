// Loads from memory that may be unmapped: a fault makes them fail instead of killing the process.
#pragma once

#include <atomic>
#include <cstdint>

namespace jtrace::signal_safe {

// HotSpot's SafeFetchN: loads a word, or returns `error_value` if the load faulted (the JVM's own
// SIGSEGV handler recognises the instruction).
using SafeFetchFunction = intptr_t (*)(intptr_t* address, intptr_t error_value);

// libjvm's function, set once before handlers run. Null: our own load is used, and a handler of
// SIGSEGV and SIGBUS must call RecoverSafeRead.
extern constinit std::atomic<SafeFetchFunction> safe_fetch;

// If a fault, given by its ucontext_t, came from our own guarded load, makes that load fail and
// returns true; the handler then just returns.
bool RecoverSafeRead(void* ucontext);

// Reads the word at `address`; returns false if it is misaligned, not a user-space address, or
// unreadable. Async-signal-safe.
bool SafeReadWord(uintptr_t address, uintptr_t* value);

// Returns the word, or 0 if it cannot be read: for chains of pointers, where 0 fails the next step.
inline uintptr_t SafeReadOr0(uintptr_t address) {
  uintptr_t value;
  return SafeReadWord(address, &value) ? value : 0;
}

// Reads a naturally aligned value that is smaller than a word.
template <typename T>
bool SafeRead(uintptr_t address, T* value) {
  static_assert(sizeof(T) < sizeof(uintptr_t));
  uintptr_t word;
  if (address % sizeof(T) != 0 || !SafeReadWord(address & ~uintptr_t{7}, &word)) return false;
  *value = static_cast<T>(word >> (address % 8 * 8));
  return true;
}

// Our own load, for a libjvm without SafeFetchN.

// The end of user space: no address from here on is the program's.
extern const uintptr_t kEndOfUserSpace;

// As HotSpot's SafeFetchN. The instruction at jtrace_guarded_load_fault may fault; RecoverSafeRead
// then continues at jtrace_guarded_load_failed. Both are hidden, to be addressed directly: entries
// of the global offset table would name the section, and aarch64's linker would make them the same.
extern "C" {
intptr_t jtrace_guarded_load(intptr_t* address, intptr_t error_value);
[[gnu::visibility("hidden")]] extern const char jtrace_guarded_load_fault[];
[[gnu::visibility("hidden")]] extern const char jtrace_guarded_load_failed[];
}

}  // namespace jtrace::signal_safe
