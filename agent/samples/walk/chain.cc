#include "agent/samples/walk/chain.h"

namespace jtrace::samples {

const Frame& Chain::frame(uint32_t index) const {
  const uint32_t own = pushed_ < capacity_ ? pushed_ : capacity_;
  if (index >= own) return base_[base_count_ - 1 - (index - own)];
  if (pushed_ <= capacity_ || index < leaf_) return frames_[index];
  const uint32_t ring = capacity_ - leaf_;
  const uint32_t oldest = (pushed_ - capacity_) % ring;
  return frames_[leaf_ + (oldest + index - leaf_) % ring];
}

uint32_t Chain::SizeWithin(uint32_t limit) const {
  if (!Truncates(limit)) return pushed_ + base_count_;
  return (size() < limit ? size() : limit) + 1;
}

uint64_t Chain::Fingerprint() const {
  if (pushed_ > capacity_) return 0;
  uint64_t hash = static_cast<uint64_t>(failure_) + 1;
  const auto mix = [&hash](uint64_t value) {
    hash = (hash ^ value) * 0x9e3779b97f4a7c15;
    hash ^= hash >> 29;
  };
  for (uint32_t i = 0; i < size(); ++i) {
    const Frame& kept = frame(i);
    mix(kept.value);
    mix(static_cast<uint32_t>(kept.bci) | uint64_t{static_cast<uint8_t>(kept.kind)} << 32 |
        uint64_t{kept.flags} << 40);
  }
  return hash;
}

void Chain::CopyTo(Frame* out, uint32_t limit) const {
  const uint32_t written = SizeWithin(limit);
  if (!Truncates(limit)) {
    for (uint32_t i = 0; i < pushed_; ++i) *out++ = frames_[i];
    for (uint32_t i = base_count_; i-- > 0;) *out++ = base_[i];
    return;
  }
  const uint32_t frames = written - 1;
  const uint32_t leaf = frames / 2;
  for (uint32_t i = 0; i < leaf; ++i) *out++ = frame(i);
  const uint32_t missing = pushed_ + base_count_ - frames;
  *out++ = Frame{static_cast<uint64_t>(MissingReason::kTruncated), static_cast<int32_t>(missing),
                 FrameKind::kMarker, 0, 0};
  for (uint32_t i = size() - (frames - leaf); i < size(); ++i) *out++ = frame(i);
}

const char* MissingReasonName(MissingReason reason) {
  switch (reason) {
    case MissingReason::kNone:
      return "none";
    case MissingReason::kTruncated:
      return "truncated";
    case MissingReason::kNoModule:
      return "no_module";
    case MissingReason::kNoUnwindRow:
      return "no_unwind_row";
    case MissingReason::kUnsupportedRow:
      return "unsupported_unwind_row";
    case MissingReason::kBadCfa:
      return "bad_frame_address";
    case MissingReason::kNoBlob:
      return "no_code_blob";
    case MissingReason::kCompiledCaller:
      return "compiled_caller";
    case MissingReason::kInterpretedFrame:
      return "interpreted_frame";
    case MissingReason::kStubCaller:
      return "stub_caller";
    case MissingReason::kEntryFrame:
      return "entry_frame";
    case MissingReason::kFrozenFrames:
      return "frozen_frames";
    case MissingReason::kContinuation:
      return "continuation";
    case MissingReason::kSkeletonFrame:
      return "skeleton_frame";
    case MissingReason::kNoProgress:
      return "no_progress";
    case MissingReason::kNoJavaLayout:
      return "no_java_layout";
    case MissingReason::kStepLimit:
      return "step_limit";
    case MissingReason::kNoStackRoom:
      return "no_stack_room";
    case MissingReason::kCount:
      break;
  }
  return "unknown";
}

}  // namespace jtrace::samples
