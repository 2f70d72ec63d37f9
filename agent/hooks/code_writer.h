// Writes to code that other threads run.
#pragma once

#include <cstdint>
#include <span>

#include "absl/status/status.h"

namespace jtrace::hooks {

// Writes one byte, which threads see in its old or new state: the only cross-modifying code that
// Intel's and AMD's manuals allow without stopping other threads. Errors: PermissionDenied.
absl::Status WriteCodeByte(uintptr_t address, uint8_t byte);

// Writes bytes that no thread runs yet.
absl::Status WriteNewCode(uintptr_t address, std::span<const uint8_t> bytes);

// From here on no processor runs the old code: all have executed a serializing instruction
// (membarrier).
void SerializeProcessors();

}  // namespace jtrace::hooks
