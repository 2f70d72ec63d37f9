// The load of safe_read where libjvm has none; RecoverSafeRead makes it fail.
#pragma once

#include <cstdint>

namespace jtrace::hot {

// Programs have no memory from here on.
extern const uintptr_t kEndOfUserSpace;

// As HotSpot's SafeFetchN: one of its instructions may fault.
extern "C" intptr_t jtrace_guarded_load(intptr_t* address, intptr_t error_value);

}  // namespace jtrace::hot
