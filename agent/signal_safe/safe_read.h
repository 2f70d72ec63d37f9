// Loads from memory that may be unmapped: a fault makes them fail instead of killing the process.
#pragma once

#include <atomic>
#include <cstdint>

namespace jtrace::signal_safe {

// HotSpot's SafeFetchN: loads a word, or returns `error_value` if the load faulted (the JVM's own
// SIGSEGV handler recognises the instruction).
using SafeFetchFunction = intptr_t (*)(intptr_t* address, intptr_t error_value);

// Set once before handlers run. Null: our own load is used, and then RecoverSafeRead must be
// called by a SIGSEGV and SIGBUS handler.
extern constinit std::atomic<SafeFetchFunction> safe_fetch;

// Called with a fault's ucontext_t: if the fault came from our own guarded load, makes that load
// fail and returns true; the handler then just returns.
bool RecoverSafeRead(void* ucontext);

// The aligned word at `address`; false if it is misaligned, not a user-space address, or
// unreadable. Async-signal-safe.
bool SafeReadWord(uintptr_t address, uintptr_t* value);

// As above, 0 if it cannot be read: for chains of pointers where 0 fails the next step anyway.
inline uintptr_t SafeReadOr0(uintptr_t address) {
  uintptr_t value;
  return SafeReadWord(address, &value) ? value : 0;
}

// A naturally aligned value smaller than a word.
template <typename T>
bool SafeRead(uintptr_t address, T* value) {
  static_assert(sizeof(T) < sizeof(uintptr_t));
  uintptr_t word;
  if (address % sizeof(T) != 0 || !SafeReadWord(address & ~uintptr_t{7}, &word)) return false;
  *value = static_cast<T>(word >> (address % 8 * 8));
  return true;
}

// The load of safe_read where libjvm has none; RecoverSafeRead makes it fail.

// Programs have no memory from here on.
extern const uintptr_t kEndOfUserSpace;

// As HotSpot's SafeFetchN. The instruction at jtrace_guarded_load_fault may fault; RecoverSafeRead
// then continues at jtrace_guarded_load_failed. Hidden: addressed directly. An entry of the global
// offset table would name the section, and the linker of aarch64 would give both the same one.
extern "C" {
intptr_t jtrace_guarded_load(intptr_t* address, intptr_t error_value);
[[gnu::visibility("hidden")]] extern const char jtrace_guarded_load_fault[];
[[gnu::visibility("hidden")]] extern const char jtrace_guarded_load_failed[];
}

}  // namespace jtrace::signal_safe
