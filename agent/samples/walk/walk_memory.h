// The result of a thread's last walk: deep stacks mostly stay the same between two samples.
#pragma once

#include <cstdint>

#include "agent/samples/walk/chain.h"
#include "agent/samples/walk/cursor.h"
#include "agent/samples/walk/vm_layout.h"

namespace jtrace::samples {

// One physical frame that was walked: the cursor when it got there, where these values were read,
// and those that the step to the caller depended on.
struct WalkedFrame {
  uintptr_t pc;
  uintptr_t sp;
  uintptr_t fp;
  uintptr_t pc_slot;  // address of the return address; 0: it was in a register
  uintptr_t fp_slot;  // address of the saved rbp; 0: the same as the callee's
  // Interpreted frames: the word that identifies the activation, else 0.
  uintptr_t method;
  uintptr_t bytecode_pointer;
  // Frames of the chain up to this one: in the memory counted from the root.
  uint32_t frames_end;
  bool uses_fp;
};

// The last complete walk of a thread, from the root to the leaf, without the interrupted frame.
//
// The next walk runs until it reaches a remembered frame: same pc, sp and, if it matters, rbp. Then
// every deeper return address (and saved rbp, and interpreted method) is read again from where it
// was read the last time; if all are the same, the rest of the chain is the remembered one, because
// each step depends on nothing else. So a deep frame costs two or three loads instead of a lookup.
//
// Belongs to one thread's handler. Walks with holes, guesses or signal frames are not remembered,
// nor those that needed rbx, which no slot records.
class WalkMemory {
 public:
  // Physical frames and chain frames that are remembered; deeper stacks are walked in full.
  static constexpr uint32_t kCapacity = 32768;

  struct Storage {
    WalkedFrame remembered[kCapacity];  // root first
    WalkedFrame walked[kCapacity];      // of the walk that runs, leaf first
    Frame frames[kCapacity];            // root first
  };

  WalkMemory(Storage* storage, uint32_t* count)
      : storage_(*storage), count_(count), search_(*count) {
    // The walk will end at one of the newest frames, and all of them are read then.
    constexpr uint32_t kFrames = 24;
    for (uint32_t i = 0; i < kFrames && i < search_; ++i) {
      __builtin_prefetch(&storage_.remembered[search_ - 1 - i]);
    }
  }

  // The walk is at `cursor` (not interrupted). True: the rest of the chain is remembered, and
  // `chain` has it. vm: as for the walk.
  bool Complete(const Cursor& cursor, const VmLayout* vm, Chain& chain);

  // Whether a frame with this pc and sp was there at the last walk.
  bool Holds(uintptr_t pc, uintptr_t sp) const;

  // Around each step: its start, and the values that it used; `frames`: pushed so far.
  void Arrived(const Cursor& cursor);
  void Stepped(const Cursor& cursor, uint32_t frames);

  // The chain is complete: remembers it, or forgets all if it may not be remembered.
  void Finish(const Chain& chain);

 private:
  bool StillThere(uint32_t index, const Cursor& cursor, const VmLayout* vm);
  bool SameActivation(const WalkedFrame& frame, uint32_t index, const Cursor& cursor,
                      const VmLayout* vm);

  Storage& storage_;
  uint32_t* const count_;  // of storage_.remembered; lives in the thread's slot
  uint32_t search_;        // remembered frames below this may still be reached
  uint32_t walked_ = 0;    // of storage_.walked
  bool storable_ = true;
  bool open_ = false;            // between Arrived and Stepped of a frame that is recorded
  uint32_t leaf_frames_ = 0;     // chain frames of the interrupted frame
  uint32_t completed_from_ = 0;  // remembered frames that completed this walk
};

}  // namespace jtrace::samples
