// Steps through frames of the template interpreter.
#include <cstring>

#include "agent/samples/walk/cursor.h"
#include "agent/samples/walk/jmethod_ids.h"
#include "agent/samples/walk/return_address.h"
#include "agent/samples/walk/walk_state.h"
#include "agent/samples/walk/x86_64_code.h"

namespace jtrace::samples {
namespace {

constexpr uintptr_t kLinkage = 16;  // return address and saved rbp

// More than a frame has below rbp: its fixed part, monitors, and at most 65,535 operands.
constexpr uintptr_t kMaxFrame = 1 << 20;

class InterpretedFrame {
 public:
  explicit InterpretedFrame(WalkState& walk) : walk_(walk), vm_(*walk.vm), cursor_(walk.cursor) {}

  Step Unwind() {
    if (cursor_.interrupted && (FromReturn() || FromEntry())) return Step::kCaller;
    if (FromFrame()) return Step::kCaller;
    if (cursor_.interrupted && FromRegisters()) return Step::kCaller;
    return walk_.Fail(MissingReason::kInterpretedFrame);
  }

 private:
  bool IsCaller(uintptr_t value) const { return IsReturnAddress(walk_, value, Callers::kJava); }

  void PushStub() { walk_.chain.Push(FrameKind::kStub, cursor_.pc, -1); }

  uintptr_t SenderSp(uintptr_t candidate, uintptr_t lowest) const {
    const bool valid = candidate >= lowest && candidate < cursor_.stack_high && candidate % 8 == 0;
    return valid ? candidate : lowest;
  }

  // The pc is where the activation is taken down, after `leave`. The code pops the return address
  // to a register and sets rsp from another, because the callee had extended the caller's frame.
  // Bytecode: pop r13; mov rsp, rbx; jmp r13. Native methods: pop rdi; mov rsp, r11; jmp rdi.
  // Entries without a frame: pop rdi (or rax); mov rsp, r13; jmp rdi (or rax).
  bool FromReturn() {
    constexpr int kMaxInstructions = 8;
    Return code;
    uintptr_t at = cursor_.pc;
    for (int i = 0; i < kMaxInstructions; ++i) {
      const int jumped = JumpedRegister(at, vm_.interpreter_high);
      if (jumped >= 0) return ReturnTo(jumped, code);
      const Instruction instruction = Decode(at, vm_.interpreter_high);
      if (instruction.length == 0) return false;
      const int popped = PoppedRegister(at, vm_.interpreter_high);
      const int to_sp = RegisterToSp(at, vm_.interpreter_high);
      if (popped >= 0 && code.popped < 0 && code.to_sp < 0) {
        code.popped = popped;
      } else if (to_sp >= 0) {
        code.to_sp = to_sp;
      } else if (instruction.effect != StackEffect::kNone) {
        return false;
      }
      at += instruction.length;
    }
    return false;
  }

  // Before the jump: the registers that are popped and that rsp is set from, or -1.
  struct Return {
    int popped = -1;
    int to_sp = -1;
  };

  bool ReturnTo(int jumped, Return code) {
    constexpr int kRdi = 7, kR13 = 13;
    // Other registers hold exception handlers, too.
    const bool returns = code.to_sp >= 0 || jumped == kRdi || jumped == kR13;
    if (!returns || (code.popped >= 0 && code.popped != jumped)) return false;
    uintptr_t pc = cursor_.EncodedRegister(jumped);
    uintptr_t sp = cursor_.sp;
    const uintptr_t slot = code.popped >= 0 ? sp : 0;
    if (slot != 0) {
      if (!cursor_.Load(slot, &pc)) return false;
      sp += 8;
    }
    if (!IsCaller(pc)) return false;
    if (code.to_sp >= 0) sp = SenderSp(cursor_.EncodedRegister(code.to_sp), sp);
    PushStub();
    cursor_.Return(pc, slot, sp, cursor_.OwnFp());
    return true;
  }

  template <int N>
  static bool Matches(uintptr_t at, const uint8_t (&bytes)[N]) {
    return std::memcmp(reinterpret_cast<const void*>(at), bytes, N) == 0;
  }

  // The pc is in a method's entry, before its frame holds the method: the method is in rbx, and the
  // caller's rsp in r13.
  bool FromEntry() {
    const StubTable* stubs = vm_.stubs.load(std::memory_order_acquire);
    const StubRange* codelet = stubs != nullptr ? stubs->Find(cursor_.pc) : nullptr;
    if (codelet == nullptr || !codelet->method_entry) return false;
    return FromFreshFrame() || BeforeFrame(*codelet);
  }

  // `push rbp; mov rbp, rsp` and at most two pushes are done.
  bool FromFreshFrame() {
    constexpr uintptr_t kPushedAtMost = 16;
    const uintptr_t fp = cursor_.fp;
    const uintptr_t method = cursor_.Register(REG_RBX);
    uintptr_t pc, sender_sp;
    SavedFp caller_fp;
    if (fp < cursor_.sp || fp - cursor_.sp > kPushedAtMost || !LooksLikeMethod(vm_, method) ||
        !cursor_.Load(fp + kInterpreterReturnAddress, &pc) || !IsCaller(pc) ||
        !cursor_.LoadFp(fp, &caller_fp)) {
      return false;
    }
    sender_sp = cursor_.Register(REG_R13);
    if (fp != cursor_.sp) cursor_.Load(fp + kInterpreterSenderSp, &sender_sp);
    PushEntered(method);
    cursor_.Return(pc, fp + kInterpreterReturnAddress, SenderSp(sender_sp, fp + kLinkage),
                   caller_fp);
    return true;
  }

  // The pc is before `mov rbp, rsp`: the return address is on top, or above the rbp that was
  // pushed, or in rax while the locals are made.
  bool BeforeFrame(const StubRange& codelet) {
    uintptr_t push = 0;
    for (uintptr_t at = codelet.begin; at + 4 < codelet.end; ++at) {
      if (Matches(at, {0x55, 0x48, 0x8b, 0xec})) {
        push = at;
        break;
      }
    }
    if (push == 0 || cursor_.pc > push + 1) return false;
    const bool pushed = cursor_.pc == push + 1;
    uintptr_t slot = cursor_.sp + (pushed ? 8 : 0);
    uintptr_t pc;
    uintptr_t lowest = slot + 8;
    if (!cursor_.Load(slot, &pc) || !IsCaller(pc)) {
      pc = cursor_.Register(REG_RAX);
      slot = 0;
      lowest = cursor_.sp;
      if (!IsCaller(pc)) return false;
    }
    const uintptr_t method = cursor_.Register(REG_RBX);
    if (LooksLikeMethod(vm_, method)) {
      PushEntered(method);
    } else {
      PushStub();
    }
    cursor_.Return(pc, slot, SenderSp(cursor_.Register(REG_R13), lowest), cursor_.OwnFp());
    return true;
  }

  void PushEntered(uintptr_t method) {
    PushMethod(vm_, walk_.chain, FrameKind::kInterpreted, method, 0, kFrameLeafEntry);
  }

  // The complete frame.
  bool FromFrame() {
    const uintptr_t fp = cursor_.fp;
    uintptr_t pc, method, sender_sp;
    SavedFp caller_fp;
    if (fp + kLinkage < cursor_.sp || fp - cursor_.sp + kLinkage > kMaxFrame ||
        !cursor_.Load(fp + kInterpreterReturnAddress, &pc) || !IsCaller(pc) ||
        !cursor_.LoadFp(fp, &caller_fp) || !cursor_.Load(fp + kInterpreterMethod, &method) ||
        !cursor_.Load(fp + kInterpreterSenderSp, &sender_sp)) {
      return false;
    }
    if (!LooksLikeMethod(vm_, method) || IsBeingFilled(method)) {
      walk_.chain.AddHole(MissingReason::kSkeletonFrame);
    } else {
      PushMethod(vm_, walk_.chain, FrameKind::kInterpreted, method, CurrentBytecode(method), 0);
    }
    cursor_.Return(pc, fp + kInterpreterReturnAddress, SenderSp(sender_sp, fp + kLinkage),
                   caller_fp);
    return true;
  }

  // Whether the frame is one of a deoptimised method that the JVM has made but not filled: it has
  // words that were on the stack, so its method does not fit its bytecode pointer. Meanwhile its
  // callee is the stub of the deoptimisation, or another such frame.
  bool IsBeingFilled(uintptr_t method) {
    if (cursor_.interrupted || walk_.chain.pushed() == 0) return false;
    const FrameKind callee = walk_.chain.last().kind;
    if (callee != FrameKind::kStub && callee != FrameKind::kMarker) return false;
    uintptr_t bcp;
    return cursor_.Load(cursor_.fp + kInterpreterBytecodePointer, &bcp) &&
           !MayRun(vm_, method, bcp);
  }

  // Returns the bytecode index. In the interrupted frame only r13 has the current bytecode pointer.
  int32_t CurrentBytecode(uintptr_t method) {
    if (cursor_.interrupted) {
      const int32_t bci = BytecodeIndex(vm_, method, cursor_.Register(REG_R13));
      if (bci >= 0) return bci;
    }
    uintptr_t bcp;
    if (!cursor_.Load(cursor_.fp + kInterpreterBytecodePointer, &bcp)) return -1;
    cursor_.step_method = method;
    cursor_.step_bytecode_pointer = bcp;
    return BytecodeIndex(vm_, method, bcp);
  }

  // The last resorts, for code without a frame between interpreter frames.
  bool FromRegisters() {
    if (IsOnTop()) {
      PushStub();
      return ReturnThrough(walk_, cursor_.sp, cursor_.OwnFp(), Callers::kJava);
    }
    const uintptr_t pc = cursor_.Register(REG_RAX);
    if (!IsCaller(pc)) return false;
    PushStub();
    walk_.chain.SetGuessed();
    cursor_.Return(pc, 0, SenderSp(cursor_.Register(REG_R13), cursor_.sp), cursor_.OwnFp());
    return true;
  }
  bool IsOnTop() const {
    uintptr_t value;
    return cursor_.Load(cursor_.sp, &value) && IsCaller(value);
  }

  WalkState& walk_;
  const VmLayout& vm_;
  Cursor& cursor_;
};

}  // namespace

Step StepInterpreted(WalkState& walk) { return InterpretedFrame(walk).Unwind(); }

}  // namespace jtrace::samples
