// The load of safe_read where libjvm has none; RecoverSafeRead makes it fail.
#pragma once

#include <cstdint>

namespace jtrace::hot {

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

}  // namespace jtrace::hot
