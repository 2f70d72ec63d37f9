#include "agent/hot/walk/chain.h"

namespace jtrace::hot {

const char* WalkNoteName(WalkNote note) {
  switch (note) {
    case WalkNote::kNone:
      return "none";
    case WalkNote::kTruncated:
      return "truncated";
    case WalkNote::kNoModule:
      return "no_module";
    case WalkNote::kNoUnwindRow:
      return "no_unwind_row";
    case WalkNote::kUnsupportedRow:
      return "unsupported_unwind_row";
    case WalkNote::kBadCfa:
      return "bad_frame_address";
    case WalkNote::kNoBlob:
      return "no_code_blob";
    case WalkNote::kCompiledCaller:
      return "compiled_caller";
    case WalkNote::kInterpretedFrame:
      return "interpreted_frame";
    case WalkNote::kStubCaller:
      return "stub_caller";
    case WalkNote::kEntryFrame:
      return "entry_frame";
    case WalkNote::kFrozenFrames:
      return "frozen_frames";
    case WalkNote::kContinuation:
      return "continuation";
    case WalkNote::kSkeletonFrame:
      return "skeleton_frame";
    case WalkNote::kNoProgress:
      return "no_progress";
    case WalkNote::kNoJavaLayout:
      return "no_java_layout";
    case WalkNote::kStepLimit:
      return "step_limit";
    case WalkNote::kCount:
      break;
  }
  return "unknown";
}

}  // namespace jtrace::hot
