// Steps through compiled Java methods and the compiled wrappers of native ones.
#include <cstring>

#include "agent/samples/walk/compiled_frame_x86_64.h"
#include "agent/samples/walk/debug_info.h"
#include "agent/samples/walk/frame_cache.h"
#include "agent/samples/walk/stack_shape_x86_64.h"
#include "agent/samples/walk/x86_64_code.h"

namespace jtrace::samples {
namespace {

constexpr int kC1FirstTier = 1;
constexpr int kC1LastTier = 3;

// Whether a string search at `cursor` can have lowered rsp from `sp`, its frame's: by at most two
// copies of 16 bytes and four words.
bool IsLoweredFrom(const Cursor& cursor, uintptr_t sp) {
  constexpr uintptr_t kMaxLowered = 64;
  return sp >= cursor.sp && sp - cursor.sp <= kMaxLowered && sp % 16 == 0;
}

// Returns FindSavedSp's result if rsp can be lowered at all: few frames have a value that shows it,
// and only these take the time to follow the code.
SavedSp SavedSpOf(const Cursor& cursor, uintptr_t end) {
  constexpr int kRegisters = 16, kRsp = 4;
  uintptr_t on_top;
  bool possible = cursor.Load(cursor.sp, &on_top) && IsLoweredFrom(cursor, on_top);
  for (int number = 0; number < kRegisters && !possible; ++number) {
    possible = number != kRsp && IsLoweredFrom(cursor, cursor.EncodedRegister(number));
  }
  return possible ? FindSavedSp(cursor.pc, end) : SavedSp{};
}

template <int N>
bool StartsWith(uintptr_t at, const uint8_t (&bytes)[N]) {
  return std::memcmp(reinterpret_cast<const void*>(at), bytes, N) == 0;
}

}  // namespace

CompiledFrame::CompiledFrame(WalkState& walk, const CodeBlob& blob)
    : walk_(walk),
      vm_(*walk.vm),
      cursor_(walk.cursor),
      blob_(blob),
      wrapper_(blob.kind == BlobKind::kNativeNmethod),
      at_(walk.cursor),
      first_frame_(walk.chain.pushed()) {
  const int tier =
      vm_.nmethod.comp_level == kAbsent ? 0 : FieldAt<int8_t>(blob.address, vm_.nmethod.comp_level);
  if (wrapper_) {
    flags_ = kFrameJniWrapper;
  } else if (tier >= kC1FirstTier && tier <= kC1LastTier) {
    flags_ = kFrameC1;
  }
}

Step CompiledFrame::Unwind() {
  if (cursor_.interrupted && (FromEntry() || FromExit())) return Done();
  PushFrames(FramePc());
  if (FromBody()) return Done();
  return walk_.Fail(MissingReason::kCompiledCaller);
}

Step CompiledFrame::Done() {
  if (at_pc_ && !unchecked_ && walk_.last_walk != nullptr) Remember();
  return Step::kCaller;
}

void CompiledFrame::Remember() const {
  CachedFrame known;
  known.nmethod = blob_.address;
  known.sp_on_top = sp_on_top_ != 0;
  const uintptr_t sp = known.sp_on_top ? sp_on_top_ : at_.sp;
  known.return_offset = static_cast<uint32_t>(cursor_.pc_slot - sp);
  known.fp_offset =
      cursor_.fp_slot != 0 ? static_cast<int32_t>(cursor_.fp_slot - sp) : CachedFrame::kOwnFp;
  known.sp_misaligned = at_.sp % 16 != 0;
  known.count = walk_.chain.pushed() - first_frame_;
  if (known.count > CachedFrame::kMaxMethods || !walk_.chain.Holds(first_frame_ + known.count)) {
    return;
  }
  for (uint32_t i = 0; i < known.count; ++i) {
    known.methods[i] = walk_.chain.pushed_frame(first_frame_ + i);
  }
  CacheFrame(vm_, at_.pc, at_.interrupted, known);
}

void CompiledFrame::PushFrames(uintptr_t pc) {
  if (wrapper_ || !DebugInfo(vm_, blob_).PushScopes(pc, cursor_.interrupted, flags_, walk_.chain)) {
    return PushWithoutBci();
  }
  unchecked_ = cursor_.interrupted && IsUnchecked();
  if (!unchecked_) return;
  walk_.chain.SetUnchecked(
      {pc, CompilationKey(vm_, blob_.address), first_frame_, walk_.chain.pushed() - first_frame_});
}

bool CompiledFrame::IsUnchecked() const {
  return (flags_ & kFrameC1) == 0 && vm_.checked_code != nullptr &&
         !vm_.checked_code->load(std::memory_order_acquire)
              ->Contains(CompilationKey(vm_, blob_.address));
}

uintptr_t CompiledFrame::FramePc() {
  if (cursor_.interrupted || wrapper_ || vm_.nmethod.orig_pc_offset == kAbsent ||
      !IsDeoptHandler(vm_, blob_, cursor_.pc)) {
    return cursor_.pc;
  }
  deoptimised_ = true;
  uintptr_t pc;
  const auto offset = FieldAt<int32_t>(blob_.address, vm_.nmethod.orig_pc_offset);
  const bool valid = cursor_.Load(cursor_.sp + static_cast<uintptr_t>(offset), &pc) &&
                     pc > blob_.code && pc < blob_.end;
  return valid ? pc : cursor_.pc;
}

bool CompiledFrame::FromBody() {
  if (blob_.frame_size > 0) {
    if (!cursor_.interrupted && !wrapper_ && FromSlowPath()) return true;
    if (cursor_.interrupted && (FromSavedSp() || FromPushedWords())) return true;
    if (FromFrameAt(cursor_.sp)) return true;
  }
  if (wrapper_ && ReturnThroughFp(walk_, Callers::kJava)) return true;
  return blob_.frame_size > 0 && FromScan();
}

bool CompiledFrame::FromFrameAt(uintptr_t sp) {
  const uintptr_t slot = sp + 8 * static_cast<uintptr_t>(blob_.frame_size - 1);
  SavedFp fp;
  if (!cursor_.LoadFp(slot - 8, &fp) || !ReturnAt(slot, fp)) return false;
  cursor_.step_used_fp = false;
  return true;
}

// The pc follows a call in a GC barrier's slow path, which saved registers below the frame before
// the call. Code that takes down the whole frame before a jump is not such a path but a rethrow.
bool CompiledFrame::FromSlowPath() {
  constexpr int kRestoreInstructions = 60;
  const int popped = PoppedBeforeJump(cursor_.pc, blob_.end, kRestoreInstructions);
  if (popped <= 0 || popped == 8 * (blob_.frame_size - 1)) return false;
  const uintptr_t caller_sp = cursor_.sp + static_cast<uintptr_t>(popped + 8 * blob_.frame_size);
  uintptr_t value, fp;
  return cursor_.Load(caller_sp - 8, &value) && cursor_.Load(caller_sp - 16, &fp) &&
         IsReturnAddress(walk_, value, Callers::kJava) &&
         CallerLooksValid(walk_, value, caller_sp, fp) &&
         FromFrameAt(cursor_.sp + static_cast<uintptr_t>(popped));
}

// A string search lowers rsp by different amounts at the same pc, and words that it leaves there
// look like callers. Its final `pop rsp` shows where the frame is.
bool CompiledFrame::FromSavedSp() {
  const SavedSp saved = SavedSpOf(cursor_, blob_.end);
  uintptr_t sp;
  if (saved.kind == SavedSp::kNone || !cursor_.Load(cursor_.sp, &sp)) return false;
  const bool on_top = saved.kind == SavedSp::kOnTop;
  if (!on_top) sp = cursor_.EncodedRegister(saved.number);
  if (!IsLoweredFrom(cursor_, sp) || !FromFrameAt(sp)) return false;
  sp_on_top_ = on_top ? sp : 0;
  at_pc_ = at_pc_ && on_top;
  return true;
}

// rsp is 16-byte aligned in the body. Intrinsics push words around their use of registers: string
// comparison one, C1's type checks two, so the parity determines only the first guess.
bool CompiledFrame::FromPushedWords() {
  constexpr uintptr_t kMaxPushed = 8;
  for (uintptr_t words = cursor_.sp / 8 % 2; words <= kMaxPushed; words += 2) {
    const uintptr_t caller_sp = cursor_.sp + 8 * (static_cast<uintptr_t>(blob_.frame_size) + words);
    uintptr_t value;
    SavedFp fp;
    if (!cursor_.Load(caller_sp - 8, &value) || !cursor_.LoadFp(caller_sp - 16, &fp)) {
      return false;
    }
    if (!IsReturnAddress(walk_, value, Callers::kJava) ||
        !CallerLooksValid(walk_, value, caller_sp, fp.value)) {
      continue;
    }
    cursor_.Return(value, caller_sp - 8, caller_sp, fp);
    at_pc_ = true;
    return true;
  }
  return false;
}

bool CompiledFrame::FromScan() {
  constexpr int kExtraWords = 12;
  return cursor_.interrupted
             ? ReturnByScan(walk_, cursor_.sp, blob_.frame_size + kExtraWords, Callers::kJava)
             : ReturnByScan(walk_, cursor_.sp + 8 * static_cast<uintptr_t>(blob_.frame_size - 1),
                            kExtraWords, Callers::kJava);
}

bool StepCached(WalkState& walk) {
  Cursor& cursor = walk.cursor;
  CachedFrame known;
  if (walk.last_walk == nullptr ||
      !FindCachedFrame(*walk.vm, cursor.pc, cursor.interrupted, &known) ||
      known.sp_misaligned != (cursor.sp % 16 != 0)) {
    return false;
  }
  // The frame may be from a recording that needed no jmethodIDs.
  if (walk.wants_ids && known.LacksIds()) return false;
  uintptr_t sp = cursor.sp;
  if (known.sp_on_top && (!cursor.Load(cursor.sp, &sp) || !IsLoweredFrom(cursor, sp))) return false;
  const uintptr_t slot = sp + known.return_offset;
  SavedFp fp = cursor.OwnFp();
  if (known.fp_offset != CachedFrame::kOwnFp &&
      !cursor.LoadFp(sp + static_cast<uintptr_t>(intptr_t{known.fp_offset}), &fp)) {
    return false;
  }
  uintptr_t value;
  if (!cursor.Load(slot, &value) ||
      !(walk.last_walk->Holds(value, slot + 8) || IsReturnAddress(walk, value, Callers::kJava))) {
    return false;
  }
  for (uint32_t i = 0; i < known.count; ++i) {
    const Frame& frame = known.methods[i];
    walk.chain.Push(frame.kind, frame.value, frame.bci, frame.flags);
  }
  cursor.Return(value, slot, slot + 8, fp);
  cursor.step_used_fp = known.fp_offset == CachedFrame::kOwnFp;
  return true;
}

Step StepCompiled(WalkState& walk, const CodeBlob& blob) {
  return CompiledFrame(walk, blob).Unwind();
}

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

// The pc is before the frame is built: follows the code from the entry instruction by instruction.
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

// Follows `push rbp; sub rsp, N` or `sub rsp, N; mov [rsp + ..], rbp` from `entry` on. Returns
// false if the frame is complete at pc.
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

// The return address is `depth` bytes above sp. rbp was pushed `rbp_depth` bytes below it, or not
// at all if that is negative.
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

// The pc is where the frame is taken down, or after that. This is code of the method itself; the
// next entry of the debug information belongs to the code after the return.
bool CompiledFrame::FromExit() {
  constexpr int kEpilogueInstructions = 8;
  if (InReturnPollStub() || ForwardsException()) return LeaveThrough(cursor_.sp, cursor_.OwnFp());
  const FrameShape shape = ShapeToReturn(cursor_.pc, blob_.end, kEpilogueInstructions);
  if (shape.kind == FrameShape::kAtFp) {
    SavedFp fp;
    if (!wrapper_ || !cursor_.LoadFp(cursor_.fp, &fp) || !IsReturnSlot(cursor_.fp + 8)) {
      return false;
    }
    PushWithoutBci();
    return ReturnThrough(walk_, cursor_.fp + 8, fp, Callers::kJava);
  }
  const int whole_frame = 8 * (blob_.frame_size - 1);
  if (shape.kind != FrameShape::kAtSp || shape.offset > whole_frame) return false;
  // If the whole frame is still there, the epilogue must begin at pc.
  if (shape.offset == whole_frame && Decode(cursor_.pc, blob_.end).effect != StackEffect::kMove) {
    return false;
  }
  SavedFp fp = cursor_.OwnFp();
  if (shape.rbp_offset >= 0 && !cursor_.LoadFp(cursor_.sp + shape.rbp_offset, &fp)) return false;
  return LeaveThrough(cursor_.sp + static_cast<uintptr_t>(shape.offset), fp);
}

bool CompiledFrame::LeaveThrough(uintptr_t slot, SavedFp fp) {
  if (!IsReturnSlot(slot)) return false;
  PushWithoutBci();
  return ReturnAt(slot, fp);
}

// The slow path of the poll at a return, reached with the frame taken down:
// lea r10, [rip + ..] or, in wrappers, mov r10, imm64; mov [r15 + ..], r10; jmp.
bool CompiledFrame::InReturnPollStub() const {
  constexpr int kLeaLength = 7, kMoveImmediateLength = 10, kMoveLength = 7;
  const uintptr_t pc = cursor_.pc;
  if (pc < blob_.code + kMoveImmediateLength + kMoveLength) return false;
  // There may be no memory after the last method's code.
  const auto is = [end = blob_.end]<size_t N>(uintptr_t at, const uint8_t(&bytes)[N]) {
    return at + N <= end && StartsWith(at, bytes);
  };
  const auto is_move = [&](uintptr_t at) { return is(at, {0x4d, 0x89, 0x97}); };
  const auto is_jump = [&](uintptr_t at) { return is(at, {0xe9}); };
  const auto stores = [&](uintptr_t at) { return is_move(at) && is_jump(at + kMoveLength); };
  return (is(pc, {0x4c, 0x8d, 0x15}) && stores(pc + kLeaLength)) ||
         (is(pc, {0x49, 0xba}) && stores(pc + kMoveImmediateLength)) || stores(pc) ||
         (is_jump(pc) && is_move(pc - kMoveLength));
}

// The pc is at the jump after a wrapper's return, which forwards an exception.
bool CompiledFrame::ForwardsException() const {
  constexpr uint8_t kReturn = 0xc3, kJump = 0xe9;
  return wrapper_ && StartsWith(cursor_.pc - 1, {kReturn, kJump});
}

}  // namespace jtrace::samples
