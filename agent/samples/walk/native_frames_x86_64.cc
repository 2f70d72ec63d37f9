// Steps through native frames: by unwind tables, through signal frames, and without tables.
#include <ucontext.h>

#include "agent/samples/walk/cursor.h"
#include "agent/samples/walk/return_address.h"
#include "agent/samples/walk/walk_state.h"

namespace jtrace::samples {
namespace {

// Bytes. If a frame seems larger, its row is taken to be broken.
constexpr uintptr_t kMaxNativeFrame = 8 << 20;

// The frame of a signal handler: the kernel put a ucontext at sp, and the interrupted code
// continues from there. It may run on another stack.
Step StepSignalFrame(WalkState& walk) {
  Cursor& cursor = walk.cursor;
  uintptr_t word;
  const uintptr_t last = cursor.sp + sizeof(ucontext_t) - 8;
  if (!signal_safe::SafeReadWord(cursor.sp, &word) ||
      !signal_safe::SafeReadWord(last & ~uintptr_t{7}, &word)) {
    return walk.Fail(MissingReason::kBadCfa);
  }
  cursor.SetInterrupted(reinterpret_cast<const ucontext_t*>(cursor.sp), walk.stack);
  return Step::kCaller;
}

// Code without unwind tables, such as hand-written assembly: a leaf that has not touched the stack,
// one that pushed a few words, or code with an rbp frame.
Step StepWithoutRow(WalkState& walk, MissingReason reason) {
  Cursor& cursor = walk.cursor;
  constexpr int kPushedWords = 16;
  walk.chain.SetGuessed();
  if (cursor.interrupted && ReturnThrough(walk, cursor.sp, cursor.OwnFp(), Callers::kAny)) {
    return Step::kCaller;
  }
  if (ReturnThroughFp(walk, Callers::kAny)) return Step::kCaller;
  if (cursor.interrupted && ReturnByScan(walk, cursor.sp, kPushedWords, Callers::kAny)) {
    return Step::kCaller;
  }
  return walk.Fail(reason);
}

bool ComputeCfa(const Cursor& cursor, const CfiRow& row, uintptr_t* cfa) {
  const auto offset = static_cast<uintptr_t>(static_cast<intptr_t>(row.cfa_offset));
  switch (row.cfa) {
    case CfaRule::kRsp:
      *cfa = cursor.sp + offset;
      return true;
    case CfaRule::kRbp:
      *cfa = cursor.fp + offset;
      return true;
    case CfaRule::kRbx:
      if (!cursor.bx_known) return false;
      *cfa = cursor.bx + offset;
      return true;
    case CfaRule::kR10:
      if (!cursor.interrupted) return false;
      *cfa = cursor.Register(REG_R10) + offset;
      return true;
    case CfaRule::kAtRbp:
      return cursor.Load(cursor.fp + offset, cfa);
    case CfaRule::kPlt:
      *cfa = cursor.sp + 8 + ((cursor.pc & 15) >= offset ? 8 : 0);
      return true;
    default:
      return false;
  }
}

bool CallerFp(const Cursor& cursor, const CfiRow& row, uintptr_t cfa, SavedFp* fp) {
  const auto offset = static_cast<uintptr_t>(static_cast<intptr_t>(row.rbp_offset));
  switch (row.rbp) {
    case RbpRule::kAtCfa:
      return cursor.LoadFp(cfa + offset, fp);
    case RbpRule::kAtRbp:
      return cursor.LoadFp(cursor.fp + offset, fp);
    default:
      *fp = cursor.OwnFp();
      return true;
  }
}

// Returns false if the caller's rbx is not known.
bool CallerBx(const Cursor& cursor, const CfiRow& row, uintptr_t cfa, uintptr_t* bx) {
  if (row.rbx == RbxRule::kAtCfa) {
    return cursor.Load(cfa + static_cast<uintptr_t>(static_cast<intptr_t>(row.rbx_offset)), bx);
  }
  *bx = cursor.bx;
  return row.rbx == RbxRule::kSame && cursor.bx_known;
}

}  // namespace

Step StepNative(WalkState& walk) {
  Cursor& cursor = walk.cursor;
  walk.chain.Push(FrameKind::kNative, cursor.pc, -1);
  // A return address may be the first byte after the function: look at the call itself.
  const uintptr_t pc = cursor.interrupted ? cursor.pc : cursor.pc - 1;
  CfiRow row;
  if (!walk.cfi.Find(pc, &row)) {
    return StepWithoutRow(
        walk, walk.vm != nullptr ? MissingReason::kNoModule : MissingReason::kNoJavaLayout);
  }
  if (row.signal_frame) return StepSignalFrame(walk);
  if (row.outermost) return Step::kEnd;
  if (row.cfa == CfaRule::kNoRow) return StepWithoutRow(walk, MissingReason::kNoUnwindRow);

  uintptr_t cfa, return_address;
  SavedFp fp;
  if (!ComputeCfa(cursor, row, &cfa)) return walk.Fail(MissingReason::kUnsupportedRow);
  if (cfa <= cursor.sp || cfa - cursor.sp > kMaxNativeFrame ||
      !cursor.Load(cfa - 8, &return_address) || !CallerFp(cursor, row, cfa, &fp)) {
    return walk.Fail(MissingReason::kBadCfa);
  }
  if (return_address == 0) return Step::kEnd;  // how old start-up code marks the first frame
  cursor.step_used_fp = row.cfa != CfaRule::kRsp || row.rbp != RbpRule::kAtCfa;
  cursor.step_used_bx = row.cfa == CfaRule::kRbx;
  uintptr_t bx = 0;
  const bool bx_known = CallerBx(cursor, row, cfa, &bx);
  cursor.Return(return_address, cfa - 8, cfa, fp);
  cursor.bx = bx;
  cursor.bx_known = bx_known;
  return Step::kCaller;
}

}  // namespace jtrace::samples
