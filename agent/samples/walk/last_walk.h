// A thread's last walk, for its next one: deep stacks mostly stay the same between two samples.
#pragma once

#include <cstdint>

#include "agent/samples/walk/chain.h"
#include "agent/samples/walk/cursor.h"
#include "agent/samples/walk/vm_layout.h"

namespace jtrace::samples {

// One physical frame of a walk: its registers, where they were read, and what the next step used.
struct WalkedFrame {
  uintptr_t pc;
  uintptr_t sp;
  uintptr_t fp;
  uintptr_t pc_slot;  // address of the return address; 0: it was in a register
  uintptr_t fp_slot;  // address of the saved rbp; 0: the same as the callee's
  // Of an interpreted frame: its Method and bytecode pointer; else 0.
  uintptr_t method;
  uintptr_t bytecode_pointer;
  // Frames in the chain up to this one: in `walked` from the leaf, in `remembered` from the root.
  uint32_t frames_end;
  bool uses_fp;
};

// The last complete walk of a thread, from the root to the leaf, without the interrupted frame.
//
// The next walk runs until it reaches a remembered frame: one with the same pc, sp and, if it
// matters, rbp. Then it reads every return address nearer to the root (and saved rbp, and
// interpreted method) from its old address. If all are the same, the rest of the chain is the
// remembered one, because each step depends on nothing else. So a frame costs two or three loads.
//
// It belongs to one thread's handler. Walks with holes, guesses or signal frames are not
// remembered, nor those that needed rbx, because no slot of it is recorded.
class LastWalk {
 public:
  // Physical frames and chain frames that are remembered; deeper stacks are walked in full.
  static constexpr uint32_t kCapacity = 32768;

  struct Storage {
    WalkedFrame remembered[kCapacity];  // root first
    WalkedFrame walked[kCapacity];      // of the walk that runs, leaf first
    Frame frames[kCapacity];            // root first
  };

  LastWalk(Storage* storage, uint32_t* count) : storage_(*storage), count_(count), search_(*count) {
    // The walk will probably reach one of the frames nearest to the leaf, and read those after it.
    constexpr uint32_t kFrames = 24;
    for (uint32_t i = 0; i < kFrames && i < search_; ++i) {
      __builtin_prefetch(&storage_.remembered[search_ - 1 - i]);
    }
  }

  // The walk is at `cursor`, which is not interrupted. If the rest of the chain is remembered,
  // gives it to `chain` and returns true. vm: as for the walk.
  bool Complete(const Cursor& cursor, const VmLayout* vm, Chain& chain);

  // Whether a frame with this pc and sp was there at the last walk.
  bool Holds(uintptr_t pc, uintptr_t sp) const;

  // Called before and after each step. `frames`: how many are pushed so far.
  void BeginStep(const Cursor& cursor);
  void EndStep(const Cursor& cursor, uint32_t frames);

  // Called when the chain is complete: remembers it, or forgets all if it may not be remembered.
  void Finish(const Chain& chain);

 private:
  bool StillThere(uint32_t index, const Cursor& cursor, const VmLayout* vm);
  bool SameActivation(const WalkedFrame& frame, uint32_t index, const Cursor& cursor,
                      const VmLayout* vm);

  Storage& storage_;
  uint32_t* const count_;  // of storage_.remembered; lives in the thread's slot
  uint32_t search_;        // remembered frames with a lower index may still be reached
  uint32_t walked_ = 0;    // frames in storage_.walked
  bool storable_ = true;
  bool open_ = false;            // between BeginStep and EndStep of a frame that is recorded
  uint32_t leaf_frames_ = 0;     // chain frames of the interrupted frame
  uint32_t completed_from_ = 0;  // remembered frames that completed this walk
};

}  // namespace jtrace::samples
