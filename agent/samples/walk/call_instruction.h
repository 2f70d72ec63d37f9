// Whether a place follows a call.
#pragma once

#include <cstdint>

namespace jtrace::samples {

// Whether the 8 bytes, those before a return address, end with a call instruction.
bool EndsWithCall(const uint8_t bytes[8]);

}  // namespace jtrace::samples
