// Whether code at an address follows a call instruction, by processor.
#pragma once

#include <cstdint>

namespace jtrace::samples {

// Whether the 8 bytes before a return address end with a call instruction. Async-signal-safe.
bool EndsWithCall(const uint8_t bytes[8]);

}  // namespace jtrace::samples
