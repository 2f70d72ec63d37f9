#include "agent/samples/walk/last_walk.h"

#include "agent/samples/walk/jmethod_ids.h"
#include "agent/samples/walk/walk_state.h"

namespace jtrace::samples {

bool LastWalk::Complete(const Cursor& cursor, const VmLayout* vm, Chain& chain) {
  // sp rises towards the root, where index 0 is.
  while (search_ > 0 && storage_.remembered[search_ - 1].sp < cursor.sp) --search_;
  if (search_ == 0) return false;
  const WalkedFrame& met = storage_.remembered[search_ - 1];
  if (met.sp != cursor.sp || met.pc != cursor.pc || (met.uses_fp && met.fp != cursor.fp)) {
    return false;
  }
  if (!StillThere(search_ - 1, cursor, vm)) {
    // A frame nearer to the root has changed, and nothing shows which ones are still valid.
    search_ = 0;
    return false;
  }
  completed_from_ = search_;
  chain.SetBase(storage_.frames, met.frames_end);
  return true;
}

bool LastWalk::Holds(uintptr_t pc, uintptr_t sp) const {
  uint32_t at = search_;
  while (at > 0 && storage_.remembered[at - 1].sp < sp) --at;
  return at > 0 && storage_.remembered[at - 1].sp == sp && storage_.remembered[at - 1].pc == pc;
}

bool LastWalk::StillThere(uint32_t index, const Cursor& cursor, const VmLayout* vm) {
  uintptr_t fp = cursor.fp;
  for (uint32_t i = index;; --i) {
    const WalkedFrame& frame = storage_.remembered[i];
    if (i != index) {
      uintptr_t pc;
      if (frame.pc_slot == 0 || !cursor.Load(frame.pc_slot, &pc) || pc != frame.pc) return false;
      if (frame.fp_slot != 0 && !cursor.Load(frame.fp_slot, &fp)) return false;
      if (frame.uses_fp && fp != frame.fp) return false;
    }
    if (frame.method != 0 && !SameActivation(frame, i, cursor, vm)) return false;
    if (i == 0) return true;
  }
}

bool LastWalk::SameActivation(const WalkedFrame& frame, uint32_t index, const Cursor& cursor,
                              const VmLayout* vm) {
  uintptr_t method, bytecode_pointer;
  if (!cursor.Load(frame.fp + kInterpreterMethod, &method) || method != frame.method ||
      !cursor.Load(frame.fp + kInterpreterBytecodePointer, &bytecode_pointer)) {
    return false;
  }
  if (bytecode_pointer != frame.bytecode_pointer) {
    storage_.remembered[index].bytecode_pointer = bytecode_pointer;
    storage_.frames[frame.frames_end - 1].bci = BytecodeIndex(*vm, method, bytecode_pointer);
  }
  return true;
}

void LastWalk::BeginStep(const Cursor& cursor) {
  open_ = walked_ < kCapacity && !cursor.interrupted;
  if (!open_) {
    // Only the first frame may have been interrupted.
    if (walked_ != 0) storable_ = false;
    return;
  }
  storage_.walked[walked_] = {cursor.pc, cursor.sp, cursor.fp, cursor.pc_slot, cursor.fp_slot, 0,
                              0,         0,         true};
}

void LastWalk::EndStep(const Cursor& cursor, uint32_t frames) {
  if (!open_) {
    leaf_frames_ = frames;
    return;
  }
  WalkedFrame& frame = storage_.walked[walked_++];
  frame.frames_end = frames;
  frame.uses_fp = cursor.step_used_fp;
  if (cursor.step_used_bx) storable_ = false;
  frame.method = cursor.step_method;
  frame.bytecode_pointer = cursor.step_bytecode_pointer;
}

void LastWalk::Finish(const Chain& chain) {
  const uint32_t frames_before =
      completed_from_ != 0 ? storage_.remembered[completed_from_ - 1].frames_end : 0;
  *count_ = 0;
  if (!storable_ || chain.end() != ChainEnd::kRoot || completed_from_ + walked_ > kCapacity ||
      frames_before + chain.pushed() > kCapacity) {
    return;
  }
  uint32_t count = completed_from_;
  uint32_t frames = frames_before;
  for (uint32_t i = walked_; i-- > 0; ++count) {
    WalkedFrame& frame = storage_.remembered[count] = storage_.walked[i];
    const uint32_t begin = i != 0 ? storage_.walked[i - 1].frames_end : leaf_frames_;
    for (uint32_t f = storage_.walked[i].frames_end; f-- > begin;) {
      storage_.frames[frames++] = chain.pushed_frame(f);
    }
    frame.frames_end = frames;
  }
  *count_ = count;
}

}  // namespace jtrace::samples
