#include "agent/hot/walk/x86_64_code.h"
#include "agent/hotspot/frame_code.h"

namespace jtrace::sampling {

std::optional<uintptr_t> FrameMadeAt(uintptr_t entry, const hot::CodeBlob& nmethod) {
  constexpr int kMostInstructions = 40;
  // The frame has the return address, too, which the call has pushed.
  const int wanted = 8 * (nmethod.frame_size - 1);
  int depth = 0;
  uintptr_t at = entry;
  for (int i = 0; i < kMostInstructions; ++i) {
    const hot::Instruction instruction = hot::Decode(at, nmethod.end);
    if (instruction.length == 0) break;
    switch (instruction.effect) {
      case hot::StackEffect::kPushRbp:
        depth += 8;
        break;
      case hot::StackEffect::kMove:
        depth += instruction.delta;
        break;
      case hot::StackEffect::kNone:
      case hot::StackEffect::kSaveRbp:
      case hot::StackEffect::kSetFrame:
        break;
      default:  // a frame that is begun but not of this size is of another one
        return depth == 0 ? std::optional<uintptr_t>() : 0;
    }
    at += static_cast<uintptr_t>(instruction.length);
    if (depth == wanted && instruction.effect == hot::StackEffect::kMove) return at;
    if (depth > wanted) return 0;
  }
  return depth == 0 ? std::optional<uintptr_t>() : 0;
}

}  // namespace jtrace::sampling
