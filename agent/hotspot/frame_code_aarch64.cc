#include "agent/hotspot/frame_code.h"

namespace jtrace::sampling {

// Compiled frames are not walked here.
uintptr_t FrameMadeAt(uintptr_t, const hot::CodeBlob&) { return 0; }

}  // namespace jtrace::sampling
