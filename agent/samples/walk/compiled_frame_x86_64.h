// One step of a walk: the frame of a compiled Java method, or of a native method's wrapper.
#pragma once

#include <cstdint>

#include "agent/samples/walk/cursor.h"
#include "agent/samples/walk/jmethod_ids.h"
#include "agent/samples/walk/return_address.h"
#include "agent/samples/walk/walk_state.h"

namespace jtrace::samples {

// The cursor is at the frame until the caller is found.
class CompiledFrame {
 public:
  CompiledFrame(WalkState& walk, const CodeBlob& blob);

  Step Unwind();

 private:
  // Ends the step: the caller is found. Remembers how (frame_cache.h) if only the code at pc
  // determined it, because it is then the same each time.
  Step Done();
  void Remember() const;

  // Pushes the method without a bytecode index: debug information does not help at this pc.
  void PushWithoutBci() {
    const auto method = FieldAt<uintptr_t>(blob_.address, vm_.nmethod.method);
    PushMethod(vm_, walk_.chain, FrameKind::kCompiled, method, -1, flags_);
  }
  void PushFrames(uintptr_t pc);
  // Whether the interrupted code is C2's and not checked yet (VmLayout::checked_code).
  bool IsUnchecked() const;
  // Returns the pc to look up in the debug information: the one kept in the frame, if the return
  // address into it was patched to a deoptimisation handler.
  uintptr_t FramePc();

  // Moves to the caller through a slot that only the code at pc determines.
  bool ReturnAt(uintptr_t slot, SavedFp fp) {
    const bool found = ReturnThrough(walk_, slot, fp, Callers::kJava);
    at_pc_ = found && !deoptimised_;
    return found;
  }

  // Move to the caller of a complete frame, whose size determines where it is; false: not found.
  bool FromBody();
  bool FromFrameAt(uintptr_t sp);
  bool FromSlowPath();
  bool FromSavedSp();
  bool FromPushedWords();
  bool FromScan();

  // The same for an interrupted frame that is not complete.
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
  const Cursor at_;             // the cursor at this frame
  const uint32_t first_frame_;  // index in the chain of its innermost method
  uint8_t flags_ = 0;
  bool deoptimised_ = false;
  bool at_pc_ = false;  // only the code at pc determined where the caller is
  bool unchecked_ = false;
  uintptr_t sp_on_top_ = 0;  // SavedSp::kOnTop: the word at sp, which is the frame's own sp
};

}  // namespace jtrace::samples
