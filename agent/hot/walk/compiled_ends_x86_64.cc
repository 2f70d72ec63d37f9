// The ends of compiled methods: where an interrupted frame is not built yet, or is taken down.
#include <cstring>

#include "agent/hot/walk/compiled_frame_x86_64.h"
#include "agent/hot/walk/stack_shape_x86_64.h"
#include "agent/hot/walk/x86_64_code.h"

namespace jtrace::hot {
namespace {

template <int N>
bool StartsWith(uintptr_t at, const uint8_t (&bytes)[N]) {
  return std::memcmp(reinterpret_cast<const void*>(at), bytes, N) == 0;
}

}  // namespace

void CompiledFrame::PushEntered() {
  const auto method = FieldAt<uintptr_t>(blob_.address, vm_.nmethod.method);
  PushMethod(vm_, walk_.chain, FrameKind::kCompiled, method, wrapper_ ? -1 : 0,
             flags_ | kFrameLeafEntry);
}

uintptr_t CompiledFrame::VerifiedEntry() const {
  return vm_.nmethod.verified_entry_offset != kAbsent
             ? blob_.code + FieldAt<uint16_t>(blob_.address, vm_.nmethod.verified_entry_offset)
             : FieldAt<uintptr_t>(blob_.address, vm_.nmethod.verified_entry);
}

int CompiledFrame::FrameComplete() const {
  return vm_.blob.frame_complete_is_short
             ? FieldAt<int16_t>(blob_.address, vm_.blob.frame_complete)
             : FieldAt<int32_t>(blob_.address, vm_.blob.frame_complete);
}

// Interrupted before the frame was built: the entries are followed instruction by instruction.
bool CompiledFrame::FromEntry() {
  constexpr uintptr_t kSlack = 16;     // the frame may be complete a little later than said
  constexpr uintptr_t kOsrEntry = 64;  // bytes of an OSR entry's prologue, at most
  const uintptr_t pc = cursor_.pc;
  if (blob_.frame_size == 0 && wrapper_) {  // frameless: method handle intrinsics
    if (!IsReturnSlot(cursor_.sp)) return false;
    PushEntered();
    return ReturnThrough(walk_, cursor_.sp, cursor_.OwnFp(), Callers::kJava);
  }
  const int complete = FrameComplete();
  const uintptr_t limit = blob_.code + (complete > 0 ? complete : 0) + kSlack;
  const uintptr_t verified = VerifiedEntry();
  if (verified < blob_.code || verified >= blob_.end) return false;
  if (pc < verified) return pc < limit && FromDepth(0, -1);  // checks the receiver's class
  if (pc < limit) return FollowPrologue(verified);
  const auto osr = vm_.nmethod.osr_entry == kAbsent
                       ? 0
                       : FieldAt<uintptr_t>(blob_.address, vm_.nmethod.osr_entry);
  return osr != 0 && pc >= osr && pc < osr + kOsrEntry && FollowPrologue(osr);
}

// Follows `push rbp; sub rsp, N` or `sub rsp, N; mov [rsp + ..], rbp` from `entry` on. False if
// the frame is complete at pc.
bool CompiledFrame::FollowPrologue(uintptr_t entry) {
  constexpr int kMaxInstructions = 40;
  int depth = 0;
  int rbp_depth = -1;
  uintptr_t at = entry;
  for (int i = 0; i < kMaxInstructions && at <= cursor_.pc; ++i) {
    if (at == cursor_.pc) return FromDepth(depth, rbp_depth);
    const Instruction instruction = Decode(at, blob_.end);
    if (instruction.length == 0) return false;
    switch (instruction.effect) {
      case StackEffect::kPushRbp:
        depth += 8;
        rbp_depth = depth;
        break;
      case StackEffect::kMove:
        depth += instruction.delta;
        break;
      case StackEffect::kSaveRbp:
      case StackEffect::kCall:
      case StackEffect::kUnknown:
        return false;
      default:
        break;
    }
    if (depth >= 8 * (blob_.frame_size - 1) && rbp_depth >= 0) return false;
    at += instruction.length;
  }
  return false;
}

// The return address is `depth` bytes above sp, rbp was pushed at `rbp_depth` below it (or not).
bool CompiledFrame::FromDepth(int depth, int rbp_depth) {
  const uintptr_t slot = cursor_.sp + static_cast<uintptr_t>(depth);
  // At an entry the return address makes the stack misaligned by one word.
  if (slot % 16 != 8 || !IsReturnSlot(slot)) return false;
  SavedFp fp = cursor_.OwnFp();
  if (rbp_depth >= 0 && !cursor_.LoadFp(slot - static_cast<uintptr_t>(rbp_depth), &fp)) {
    return false;
  }
  PushEntered();
  return ReturnAt(slot, fp);
}

bool CompiledFrame::IsReturnSlot(uintptr_t slot) const {
  uintptr_t value;
  return cursor_.Load(slot, &value) && IsReturnAddress(walk_, value, Callers::kJava);
}

// Interrupted while the frame is taken down, or after that. The debug information does not help
// there: the next entry belongs to the code after the return. The code that runs is the end of
// the method itself.
bool CompiledFrame::FromExit() {
  constexpr int kEpilogueInstructions = 8;
  if (InReturnPollStub() || ForwardsException()) return LeaveThrough(cursor_.sp, cursor_.OwnFp());
  const FrameShape shape = ShapeToReturn(cursor_.pc, blob_.end, kEpilogueInstructions);
  if (shape.kind == FrameShape::kAtFp) {
    SavedFp fp;
    if (!wrapper_ || !cursor_.LoadFp(cursor_.fp, &fp) || !IsReturnSlot(cursor_.fp + 8))
      return false;
    PushLeft();
    return ReturnThrough(walk_, cursor_.fp + 8, fp, Callers::kJava);
  }
  const int whole_frame = 8 * (blob_.frame_size - 1);
  if (shape.kind != FrameShape::kAtSp || shape.offset > whole_frame) return false;
  // With the whole frame still there, the epilogue must begin right here.
  if (shape.offset == whole_frame && Decode(cursor_.pc, blob_.end).effect != StackEffect::kMove) {
    return false;
  }
  SavedFp fp = cursor_.OwnFp();
  if (shape.rbp_offset >= 0 && !cursor_.LoadFp(cursor_.sp + shape.rbp_offset, &fp)) return false;
  return LeaveThrough(cursor_.sp + static_cast<uintptr_t>(shape.offset), fp);
}

bool CompiledFrame::LeaveThrough(uintptr_t slot, SavedFp fp) {
  if (!IsReturnSlot(slot)) return false;
  PushLeft();
  return ReturnAt(slot, fp);
}

// The slow path of the poll at a return, reached with the frame taken down:
// lea r10, [rip + ..] or, in wrappers, mov r10, imm64; mov [r15 + ..], r10; jmp.
bool CompiledFrame::InReturnPollStub() const {
  constexpr int kLeaLength = 7, kMoveImmediateLength = 10, kMoveLength = 7;
  const uintptr_t pc = cursor_.pc;
  if (pc < blob_.code + kMoveImmediateLength + kMoveLength) return false;
  const auto is_move = [](uintptr_t at) { return StartsWith(at, {0x4d, 0x89, 0x97}); };
  const auto is_jump = [](uintptr_t at) { return StartsWith(at, {0xe9}); };
  const auto stores = [&](uintptr_t at) { return is_move(at) && is_jump(at + kMoveLength); };
  return (StartsWith(pc, {0x4c, 0x8d, 0x15}) && stores(pc + kLeaLength)) ||
         (StartsWith(pc, {0x49, 0xba}) && stores(pc + kMoveImmediateLength)) || stores(pc) ||
         (is_jump(pc) && is_move(pc - kMoveLength));
}

// The jump after a wrapper's return.
bool CompiledFrame::ForwardsException() const {
  constexpr uint8_t kReturn = 0xc3, kJump = 0xe9;
  return wrapper_ && StartsWith(cursor_.pc - 1, {kReturn, kJump});
}

}  // namespace jtrace::hot
