#include "agent/samples/walk/adapter_code_x86_64.h"

#include <cstring>

#include "agent/samples/walk/x86_64_code.h"

namespace jtrace::samples {
namespace {

template <int N>
bool Matches(uintptr_t at, uintptr_t end, const uint8_t (&bytes)[N]) {
  return at + N <= end && std::memcmp(reinterpret_cast<const void*>(at), bytes, N) == 0;
}

constexpr uint8_t kPushRax = 0x50, kPopRax = 0x58;

uint8_t ByteAt(uintptr_t at) { return *reinterpret_cast<const uint8_t*>(at); }

// r13 := the value of rsp before the call: `lea r13, [rsp + 8]` before `pop rax`, or `mov r13, rsp`
// after it. The latter is also how rsp is kept over a call.
bool SetsR13(uintptr_t at, uintptr_t end) {
  return Matches(at, end, {0x4c, 0x8d, 0x6c, 0x24, 8}) || Matches(at, end, {0x4c, 0x8b, 0xec}) ||
         Matches(at, end, {0x49, 0x89, 0xe5});
}

// rsp := r13, which restores rsp after a call.
bool SetsSpFromR13(uintptr_t at, uintptr_t end) {
  return Matches(at, end, {0x49, 0x8b, 0xe5}) || Matches(at, end, {0x4c, 0x89, 0xec});
}

// `mov [rsp], rax` or `push rax`.
bool StoresRax(uintptr_t at, uintptr_t end) {
  return ByteAt(at) == kPushRax || Matches(at, end, {0x48, 0x89, 0x04, 0x24});
}

// The adapter's code from an interrupted pc on, followed instruction by instruction.
class AdapterPath {
 public:
  AdapterPath(uintptr_t pc, uintptr_t end) : begin_(pc), at_(pc), end_(end) {}

  AdapterState Follow() {
    constexpr int kMaxInstructions = 700;  // 255 arguments, two instructions each, and more
    AdapterState state;
    for (int i = 0; i < kMaxInstructions && at_ < end_; ++i) {
      if (SetsSpFromR13(at_, end_)) return {AdapterState::kAtR13, 0, false};
      if (SetsR13(at_, end_)) return BeforeArguments();
      if (JumpedRegister(at_, end_) >= 0) return WithArguments();
      if (!Step()) break;
    }
    return state;
  }

 private:
  // Moves past the instruction at at_. Returns false if it cannot be followed.
  bool Step() {
    const Instruction instruction = Decode(at_, end_);
    const uintptr_t next = at_ + static_cast<uintptr_t>(instruction.length);
    if (instruction.length == 0) return false;
    if (rax_ == Rax::kNone && ByteAt(at_) == kPopRax) {
      rax_ = Rax::kPopped;
      return_offset_ = risen_;
    } else if (rax_ == Rax::kNone && StoresRax(at_, end_)) {
      rax_ = Rax::kStored;
    }
    const uintptr_t target = ConditionalTarget(at_, end_);
    if (target > next) around_ = target;
    switch (instruction.effect) {
      case StackEffect::kMove:
      case StackEffect::kPushRbp:
      case StackEffect::kPopRbp:
        risen_ -= instruction.delta;
        break;
      case StackEffect::kUnknown:
        aligned_ = true;
        break;
      case StackEffect::kJump:
        // Code after a jump is reached by a branch around it.
        if (around_ <= at_) return false;
        at_ = around_;
        return true;
      case StackEffect::kReturn:
      case StackEffect::kLeave:
        return false;
      default:
        break;
    }
    at_ = next;
    return true;
  }

  // The state if r13 is not set yet.
  AdapterState BeforeArguments() const {
    if (aligned_) return {};
    const bool popped = at_ == begin_ && ByteAt(at_ - 1) == kPopRax;
    if (popped) return {AdapterState::kInRax, 0, false};
    return {AdapterState::kOnStack, rax_ == Rax::kPopped ? return_offset_ : risen_, false};
  }

  // The state if the adapter or the interpreter has set r13: the jump into the callee follows.
  AdapterState WithArguments() const {
    if (aligned_) return {};
    if (rax_ == Rax::kStored) return {AdapterState::kInRax, 0, true};
    return {AdapterState::kOnStack, rax_ == Rax::kPopped ? return_offset_ : risen_, true};
  }

  const uintptr_t begin_;
  uintptr_t at_;
  const uintptr_t end_;
  uintptr_t around_ = 0;  // target of the last forward branch
  int32_t risen_ = 0;     // rsp at at_ minus rsp at begin_, bytes
  bool aligned_ = false;  // rsp was aligned: risen_ is not known any more
  enum class Rax { kNone, kPopped, kStored } rax_ = Rax::kNone;  // the first use of rax
  int32_t return_offset_ = 0;
};

}  // namespace

AdapterState FollowAdapter(uintptr_t pc, uintptr_t end) { return AdapterPath(pc, end).Follow(); }

}  // namespace jtrace::samples
