// The size of a compiled method's frame, from the code that makes it.
#pragma once

#include <cstdint>
#include <optional>

#include "agent/hot/walk/code_cache.h"

namespace jtrace::sampling {

// Behind the code from `entry` on that makes a frame of the size that `nmethod` says; 0: it makes
// one of another size. Nothing if the code shows no size: it begins with a jump where the method is
// out of use, or waits for its class to be initialised. The nmethod is alive.
std::optional<uintptr_t> FrameMadeAt(uintptr_t entry, const hot::CodeBlob& nmethod);

}  // namespace jtrace::sampling
