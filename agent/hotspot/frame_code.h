// The size of a compiled method's frame, from the code that makes it.
#pragma once

#include <cstdint>

#include "agent/hot/walk/code_cache.h"

namespace jtrace::sampling {

// Behind the code from `entry` on that makes a frame of the size that `nmethod` says; 0: it makes
// none of that size. The nmethod is alive.
uintptr_t FrameMadeAt(uintptr_t entry, const hot::CodeBlob& nmethod);

}  // namespace jtrace::sampling
