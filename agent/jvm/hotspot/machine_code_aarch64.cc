#include "agent/jvm/hotspot/machine_code.h"

namespace jtrace::jvm {

// Frames of compiled code are not walked here, so their size is not needed.
std::optional<uintptr_t> FrameSetupEnd(uintptr_t, const samples::CodeBlob&) { return std::nullopt; }

// Only walks over stacks need these fields; here are none (agent/samples/walk/walker_aarch64.cc).
std::optional<ContinuationFields> FindContinuationFields(const uint8_t*, uint64_t) {
  return std::nullopt;
}

}  // namespace jtrace::jvm
