#include "agent/hotspot/continuation_code.h"

namespace jtrace::sampling {

// Only a walk over a stack needs them, and there is none (agent/hot/walk/walker_aarch64.cc).
std::optional<ContinuationFields> FindContinuationFields(const uint8_t*, uint64_t) {
  return std::nullopt;
}

}  // namespace jtrace::sampling
