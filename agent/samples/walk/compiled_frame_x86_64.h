// The frame of a compiled Java method, or of the compiled wrapper of a native one: one step of a
// walk.
#pragma once

#include <cstdint>

#include "agent/samples/walk/cursor.h"
#include "agent/samples/walk/method_ref.h"
#include "agent/samples/walk/return_address.h"
#include "agent/samples/walk/walk_state.h"

namespace jtrace::samples {

class CompiledFrame {
 public:
  CompiledFrame(WalkState& walk, const CodeBlob& blob);

  Step Unwind();

 private:
  // The caller is found. The way is the same at each time if only the code at pc determined it.
  Step Done();
  void Remember() const;

  void PushLeft() {
    const auto method = FieldAt<uintptr_t>(blob_.address, vm_.nmethod.method);
    PushMethod(vm_, walk_.chain, FrameKind::kCompiled, method, -1, flags_);
  }
  void PushFrames(uintptr_t pc);
  // The interrupted code is C2's, and nobody has checked its debug information yet.
  bool IsUnchecked() const;
  // The pc for the debug information: that of the frame itself if its return address was patched
  // to a deoptimisation handler.
  uintptr_t FramePc();

  // Finds the caller by a place on the stack that follows from the code at pc.
  bool ReturnAt(uintptr_t slot, SavedFp fp) {
    const bool found = ReturnThrough(walk_, slot, fp, Callers::kJava);
    at_pc_ = found && !deoptimised_;
    return found;
  }

  // The frame is complete: its size determines where the caller is.
  bool FromBody();
  bool FromFrameAt(uintptr_t sp);
  bool FromSlowPath();
  bool FromSavedSp();
  bool FromPushedWords();
  bool FromScan();

  // For an interrupted frame that is not complete (compiled_frames_x86_64.cc).
  bool FromEntry();
  bool FromExit();
  void PushEntered();
  uintptr_t VerifiedEntry() const;
  int FrameComplete() const;
  bool FollowPrologue(uintptr_t entry);
  bool FromDepth(int depth, int rbp_depth);
  bool IsReturnSlot(uintptr_t slot) const;
  bool LeaveThrough(uintptr_t slot, SavedFp fp);
  bool InReturnPollStub() const;
  bool ForwardsException() const;

  WalkState& walk_;
  const VmLayout& vm_;
  Cursor& cursor_;
  const CodeBlob& blob_;
  const bool wrapper_;
  const Cursor at_;
  const uint32_t first_frame_;
  uint8_t flags_ = 0;
  bool deoptimised_ = false;
  bool at_pc_ = false;
  bool unchecked_ = false;
  uintptr_t sp_on_top_ = 0;  // the word at sp, if the frame counts from there
};

}  // namespace jtrace::samples
