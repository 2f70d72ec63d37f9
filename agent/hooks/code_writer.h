// Writes to code that other threads run.
#pragma once

#include <cstdint>
#include <span>

#include "absl/status/status.h"

namespace jtrace::hooks {

// One byte, which threads see before or after: what Intel's and AMD's manuals allow of
// cross-modifying code without stopping anybody. Errors: PermissionDenied.
absl::Status WriteCodeByte(uintptr_t address, uint8_t byte);

// Bytes that no thread runs yet.
absl::Status WriteNewCode(uintptr_t address, std::span<const uint8_t> bytes);

// From here on no processor runs what stood there before the writes above: all have been through a
// serializing instruction (membarrier).
void SerializeProcessors();

}  // namespace jtrace::hooks
