// Steps through generated code of no method: StubRoutines, runtime stubs, adapters, vtable stubs.
#include <algorithm>
#include <cstring>

#include "agent/samples/walk/adapter_code_x86_64.h"
#include "agent/samples/walk/cursor.h"
#include "agent/samples/walk/return_address.h"
#include "agent/samples/walk/stack_shape_x86_64.h"
#include "agent/samples/walk/walk_state.h"
#include "agent/samples/walk/x86_64_code.h"

namespace jtrace::samples {
namespace {

class StubFrame {
 public:
  StubFrame(WalkState& walk, const CodeBlob& blob)
      : walk_(walk), cursor_(walk.cursor), blob_(blob) {
    const StubTable* stubs = walk.vm->stubs.load(std::memory_order_acquire);
    const StubRange* stub = stubs != nullptr ? stubs->Find(cursor_.pc) : nullptr;
    named_ = stub != nullptr && stub->begin >= blob.address;
    begin_ = named_ ? stub->begin : blob.code;
    // Native code calls blobs of these kinds directly; only Java code calls the others.
    const bool native_callers = blob.kind == BlobKind::kStubRoutines ||
                                blob.kind == BlobKind::kOther || blob.kind == BlobKind::kUpcall;
    callers_ = native_callers ? Callers::kAny : Callers::kJava;
  }

  Step Unwind() {
    walk_.chain.Push(FrameKind::kStub, cursor_.pc, -1);
    if (cursor_.pc == walk_.vm->call_stub_return) return EntryFrame();
    if (IsRuntimeFrame() && !cursor_.interrupted) {
      return FromFrameSize() || ReturnThroughFp(walk_, Callers::kAny) ||
                     ReturnByScan(walk_, cursor_.sp, blob_.frame_size + kScanWords, callers_)
                 ? Step::kCaller
                 : walk_.Fail(MissingReason::kStubCaller);
    }
    if (FromAdapterCall() || FromHandlerJump() || FromShape()) return Step::kCaller;
    if (cursor_.interrupted && FromInterrupted()) return Step::kCaller;
    return LastResorts() ? Step::kCaller : walk_.Fail(MissingReason::kStubCaller);
  }

 private:
  static constexpr int kScanWords = 16;

  bool IsRuntimeFrame() const {
    return blob_.kind == BlobKind::kRuntimeStub && blob_.frame_size > 0;
  }
  bool IsAdapter() const {
    return blob_.kind == BlobKind::kAdapter || blob_.kind == BlobKind::kMethodHandle;
  }

  // The frame of call_stub, through which native code calls Java: a plain rbp frame.
  Step EntryFrame() {
    uintptr_t pc;
    SavedFp fp;
    if (cursor_.fp < cursor_.sp || !cursor_.Load(cursor_.fp + 8, &pc) ||
        !cursor_.LoadFp(cursor_.fp, &fp)) {
      return walk_.Fail(MissingReason::kEntryFrame);
    }
    cursor_.Return(pc, cursor_.fp + 8, cursor_.fp + 16, fp);
    return Step::kCaller;
  }

  bool FromFrameSize() {
    const uintptr_t slot = cursor_.sp + 8 * static_cast<uintptr_t>(blob_.frame_size - 1);
    SavedFp fp;
    return cursor_.LoadFp(slot - 8, &fp) && ReturnThrough(walk_, slot, fp, callers_);
  }

  // A stub that dispatches an exception takes down its frame and jumps through a register to the
  // handler, in the frame that is then on top: `jmp register`, or `pop register` before it. C2's
  // stub is itself entered by a jump: its caller's pc is in rdx until the stub pushes it.
  bool FromHandlerJump() {
    if (!cursor_.interrupted || blob_.kind != BlobKind::kRuntimeStub) return false;
    const uintptr_t pc = cursor_.pc;
    const int jumped = JumpedRegister(pc, blob_.end);
    if (jumped >= 0) {
      return !EntersCallee() &&
             EnterHandler(cursor_.EncodedRegister(jumped), 0, cursor_.sp, cursor_.OwnFp());
    }
    const int popped = PoppedRegister(pc, blob_.end);
    uintptr_t on_top;
    if (popped >= 0 && cursor_.Load(cursor_.sp, &on_top) &&
        JumpedRegister(pc + (popped < 8 ? 1 : 2), blob_.end) == popped) {
      return EnterHandler(on_top, cursor_.sp, cursor_.sp + 8, cursor_.OwnFp());
    }
    constexpr uint8_t kPushRdx = 0x52;
    return pc == begin_ && ByteAt(pc) == kPushRdx &&
           EnterHandler(cursor_.Register(REG_RDX), 0, cursor_.sp, cursor_.OwnFp());
  }

  // Whether the stub resolves a call: it jumps to the callee's entry in the same way, but the
  // return address is still on top, so rsp is not a multiple of 16. The callee's frame is not there
  // yet, so the caller that it seems to have means nothing.
  bool EntersCallee() const {
    uintptr_t on_top;
    return cursor_.sp % 16 == 8 && cursor_.Load(cursor_.sp, &on_top) &&
           IsReturnAddress(walk_, on_top, Callers::kJava);
  }

  // Moves to an exception handler. It follows no call, so instead it must be in an nmethod or the
  // interpreter, and have a valid caller.
  bool EnterHandler(uintptr_t pc, uintptr_t slot, uintptr_t sp, SavedFp caller_fp) {
    CodeBlob target;
    if (!walk_.InCodeCache(pc)) return false;
    const bool handler = FindBlob(*walk_.vm, pc, &target) && target.IsCompiled() &&
                         pc >= target.code && pc < target.end;
    if (!handler && !walk_.vm->InInterpreter(pc)) return false;
    if (!CallerLooksValid(walk_, pc, sp, caller_fp.value)) return false;
    cursor_.Return(pc, slot, sp, caller_fp);
    return true;
  }

  // The pc is in a compiled-to-interpreted adapter that called fixup_callers_callsite. After the
  // call it takes down the area of the saved registers with `add rsp, n`.
  bool FromAdapterCall() {
    constexpr uintptr_t kSearchBytes = 24;
    constexpr uintptr_t kPushedRegisters = 0x88;  // flags and 16 general registers
    constexpr int kExtraWords = 6;
    if (blob_.kind != BlobKind::kAdapter || cursor_.interrupted) return false;
    for (uintptr_t at = cursor_.pc; at < cursor_.pc + kSearchBytes && at + 7 <= blob_.end; ++at) {
      const uint8_t add_rsp[] = {0x48, 0x81, 0xc4};
      if (std::memcmp(reinterpret_cast<const void*>(at), add_rsp, sizeof add_rsp) != 0) continue;
      uint32_t area;
      std::memcpy(&area, reinterpret_cast<const void*>(at + 3), sizeof area);
      for (int i = 0; i < kExtraWords; ++i) {
        const uintptr_t slot = cursor_.sp + area + kPushedRegisters + 8 * static_cast<uintptr_t>(i);
        if (ReturnThrough(walk_, slot, cursor_.OwnFp(), Callers::kJava)) return true;
      }
      return false;
    }
    return false;
  }

  // Follows rsp from the stub's begin.
  bool FromShape() {
    if (IsAdapter() || !(named_ || blob_.kind == BlobKind::kRuntimeStub)) return false;
    const FrameShape shape = ShapeFromEntry(begin_, cursor_.pc);
    shape_known_ = shape.kind != FrameShape::kUnknown;
    if (shape.kind == FrameShape::kAtFp) {
      SavedFp caller_fp;
      return cursor_.fp + 8 >= cursor_.sp && cursor_.LoadFp(cursor_.fp, &caller_fp) &&
             FromSlot(cursor_.fp + static_cast<uintptr_t>(shape.offset), caller_fp);
    }
    if (shape.kind != FrameShape::kAtSp) return false;
    SavedFp caller_fp = cursor_.OwnFp();
    if (shape.rbp_offset >= 0 &&
        !cursor_.LoadFp(cursor_.sp + static_cast<uintptr_t>(shape.rbp_offset), &caller_fp)) {
      return false;
    }
    return FromSlot(cursor_.sp + static_cast<uintptr_t>(shape.offset), caller_fp);
  }

  // Moves to the caller whose return address is in that slot, or will be.
  bool FromSlot(uintptr_t slot, SavedFp caller_fp) {
    if (ReturnThrough(walk_, slot, caller_fp, callers_)) return true;
    if (blob_.kind != BlobKind::kRuntimeStub) return false;
    // An exception handler's address may have replaced it.
    uintptr_t handler;
    if (cursor_.Load(slot, &handler) && EnterHandler(handler, slot, slot + 8, caller_fp)) {
      return true;
    }
    // The stub makes the slot with its first instruction.
    return cursor_.interrupted && FromFault(cursor_.pc == begin_ ? slot : slot + 8, caller_fp);
  }

  // If a poll or an access faults, the JVM's own signal handler continues the code in a stub, as if
  // the code had called it. But the stub first saves the registers, and then stores the return
  // address into its slot; until then the JavaThread has it.
  bool FromFault(uintptr_t caller_sp, SavedFp caller_fp) {
    const Offset field = walk_.vm->thread.saved_exception_pc;
    if (field == kAbsent || walk_.java_thread == 0) return false;
    const uintptr_t pc =
        signal_safe::SafeReadOr0(walk_.java_thread + static_cast<uintptr_t>(field));
    return EnterHandler(pc, 0, caller_sp, caller_fp);
  }

  bool FromInterrupted() {
    constexpr uint8_t kPushRbp = 0x55, kPopRbp = 0x5d, kRet = 0xc3, kLeave = 0xc9;
    if (blob_.kind == BlobKind::kAdapter && FromAdapterCode()) return true;
    const uint8_t next = ByteAt(cursor_.pc);
    const bool frameless =
        cursor_.pc == begin_ || next == kRet || next == kPushRbp || blob_.kind == BlobKind::kVtable;
    if (frameless && ReturnThrough(walk_, cursor_.sp, cursor_.OwnFp(), callers_)) return true;
    if (next == kPopRbp || ByteAt(cursor_.pc - 1) == kPushRbp) {
      SavedFp fp;
      if (cursor_.LoadFp(cursor_.sp, &fp) && ReturnThrough(walk_, cursor_.sp + 8, fp, callers_)) {
        return true;
      }
    }
    if (next == kLeave && ReturnThroughFp(walk_, callers_)) return true;
    if (IsAdapter() && FromAdapter()) return true;
    // Only if FromShape knew nothing: a frame that is being built or taken down has another size.
    return IsRuntimeFrame() && !shape_known_ && FromFrameSize();
  }

  // Follows the adapter's code from pc on. Plausibility does not suffice here: the frame of a
  // compiled caller and the words between it and rsp, which are not written yet, are full of what
  // earlier calls left, so a wrong slot often has a return address and a plausible caller.
  bool FromAdapterCode() {
    const AdapterState state = FollowAdapter(cursor_.pc, blob_.end);
    const uintptr_t r13 = cursor_.Register(REG_R13);
    uintptr_t pc = cursor_.Register(REG_RAX), slot = 0, sp = cursor_.sp;
    switch (state.kind) {
      case AdapterState::kUnknown:
        return false;
      case AdapterState::kInRax:
        break;
      case AdapterState::kOnStack:
        slot = cursor_.sp + static_cast<uintptr_t>(intptr_t{state.offset});
        break;
      case AdapterState::kAtR13:
        slot = r13;
        break;
    }
    if (slot != 0) {
      if (!cursor_.Load(slot, &pc)) return false;
      sp = slot + 8;
    }
    if (state.caller_in_r13) {
      if (r13 < sp || !cursor_.InStack(r13)) return false;
      sp = r13;
    }
    if (!IsReturnAddress(walk_, pc, Callers::kJava)) return false;
    cursor_.Return(pc, slot, sp, cursor_.OwnFp());
    return true;
  }

  // An adapter moves the return address: it is on top, where r13 (the caller's rsp) points, or in
  // rax. Takes the first whose caller looks valid.
  bool FromAdapter() {
    const uintptr_t sp = cursor_.sp;
    const uintptr_t r13 = cursor_.Register(REG_R13);
    const bool sender_in_r13 = r13 > sp && cursor_.InStack(r13);
    uintptr_t on_top;
    if (cursor_.Load(sp, &on_top) &&
        (TryCaller(on_top, sp, sp + 8) || (sender_in_r13 && TryCaller(on_top, sp, r13)))) {
      return true;
    }
    uintptr_t at_r13;
    if (sender_in_r13 && cursor_.Load(r13, &at_r13) && TryCaller(at_r13, r13, r13 + 8)) {
      return true;
    }
    const uintptr_t rax = cursor_.Register(REG_RAX);
    return TryCaller(rax, 0, sp) || (sender_in_r13 && TryCaller(rax, 0, r13));
  }

  bool TryCaller(uintptr_t pc, uintptr_t slot, uintptr_t sp) {
    if (!IsReturnAddress(walk_, pc, Callers::kJava) ||
        !CallerLooksValid(walk_, pc, sp, cursor_.fp)) {
      return false;
    }
    cursor_.Return(pc, slot, sp, cursor_.OwnFp());
    return true;
  }

  bool LastResorts() {
    walk_.chain.SetGuessed();
    const bool builds_frame = StartsWithFrame();
    if (builds_frame && ReturnThroughFp(walk_, callers_)) return true;
    if (ReturnThrough(walk_, cursor_.sp, cursor_.OwnFp(), callers_)) return true;
    if (!IsAdapter() && !builds_frame && ReturnThroughFp(walk_, callers_)) return true;
    constexpr int kStubScanWords = 64;
    return ReturnByScan(walk_, cursor_.sp, kStubScanWords, callers_);
  }

  bool StartsWithFrame() const {
    const uint8_t push_mov[] = {0x55, 0x48, 0x8b, 0xec};  // push rbp; mov rbp, rsp
    return std::memcmp(reinterpret_cast<const void*>(begin_), push_mov, sizeof push_mov) == 0;
  }

  static uint8_t ByteAt(uintptr_t address) { return *reinterpret_cast<const uint8_t*>(address); }

  WalkState& walk_;
  Cursor& cursor_;
  const CodeBlob& blob_;
  uintptr_t begin_;
  bool named_;
  bool shape_known_ = false;  // whether FromShape knew where the return address must be
  Callers callers_;
};

}  // namespace

Step StepStub(WalkState& walk, const CodeBlob& blob) { return StubFrame(walk, blob).Unwind(); }

Step StepContinuation(WalkState& walk) {
  // The ContinuationEntry is in the frame of enterSpecial, whose rbp frame follows it.
  Cursor& cursor = walk.cursor;
  const VmLayout& vm = *walk.vm;
  walk.chain.AddHole(MissingReason::kFrozenFrames);
  uintptr_t pc;
  SavedFp fp;
  const Offset field = vm.thread.continuation_entry.load(std::memory_order_relaxed);
  const uint32_t size = vm.continuation_entry_size.load(std::memory_order_relaxed);
  const uintptr_t entry =
      walk.java_thread != 0 && field != kAbsent
          ? signal_safe::SafeReadOr0(walk.java_thread + static_cast<uintptr_t>(field))
          : 0;
  const uintptr_t frame = entry + size;
  if (entry < cursor.sp || size == 0 || !cursor.Load(frame + 8, &pc) ||
      !cursor.LoadFp(frame, &fp)) {
    return walk.Fail(MissingReason::kContinuation);
  }
  cursor.Return(pc, frame + 8, frame + 16, fp);
  return Step::kCaller;
}

}  // namespace jtrace::samples
