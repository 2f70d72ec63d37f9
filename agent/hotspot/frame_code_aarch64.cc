#include "agent/hotspot/frame_code.h"

namespace jtrace::sampling {

// Frames of compiled code are not walked here, so their size is not needed.
std::optional<uintptr_t> FrameMadeAt(uintptr_t, const hot::CodeBlob&) { return std::nullopt; }

}  // namespace jtrace::sampling
