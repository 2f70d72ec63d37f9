#include "agent/samples/walk/stack_shape_x86_64.h"

#include <cstring>

#include "agent/samples/walk/x86_64_code.h"

namespace jtrace::samples {
namespace {

constexpr int kRegRsp = 4;

// Whether `mov register, rsp` is at `at`.
bool CopiesSp(uintptr_t at, uintptr_t end) {
  if (at + 3 > end) return false;
  uint8_t p[3];
  std::memcpy(p, reinterpret_cast<const void*>(at), sizeof p);
  const bool load = p[0] == 0x48 || p[0] == 0x4c ? p[1] == 0x8b && (p[2] & 0xc7) == 0xc4 : false;
  const bool store = p[0] == 0x48 || p[0] == 0x49 ? p[1] == 0x89 && (p[2] & 0xf8) == 0xe0 : false;
  return load || store;
}

}  // namespace

SavedSp FindSavedSp(uintptr_t pc, uintptr_t end) {
  constexpr int kMaxInstructions = 160;  // twice the longest string search
  int depth = 0;                         // bytes pushed from here on
  int pushed = -1;                       // the pushed register, if it is still on top
  for (int i = 0; i < kMaxInstructions && !CopiesSp(pc, end); ++i) {
    if (PoppedRegister(pc, end) == kRegRsp) {
      if (pushed >= 0) return {SavedSp::kInRegister, pushed};
      return depth == 0 ? SavedSp{SavedSp::kOnTop, -1} : SavedSp{};
    }
    const Instruction instruction = Decode(pc, end);
    switch (instruction.effect) {
      case StackEffect::kMove:
      case StackEffect::kPushRbp:
      case StackEffect::kPopRbp:
        depth += instruction.delta;
        pushed = PushedRegister(pc, end);
        break;
      case StackEffect::kNone:
      case StackEffect::kJump:
        break;
      default:
        return {};
    }
    pc += static_cast<uintptr_t>(instruction.length);
  }
  return {};
}

FrameShape ShapeFromEntry(uintptr_t entry, uintptr_t pc) {
  constexpr int kMaxInstructions = 4000;
  constexpr int kNoFrame = -1;
  int depth = 0, deepest = 0;                      // bytes below the return address
  int frame = kNoFrame, deepest_frame = kNoFrame;  // depth that rbp points to
  int rbp_saved_at = kNoFrame;
  bool unknown = false, unreachable = false;
  uintptr_t at = entry;
  for (int i = 0; at < pc && i < kMaxInstructions; ++i) {
    if (unreachable) {
      depth = deepest;
      frame = deepest_frame;
      unreachable = false;
    }
    const Instruction instruction = Decode(at, pc);
    if (instruction.length == 0) return {};
    switch (instruction.effect) {
      case StackEffect::kPushRbp:
        depth += 8;
        if (rbp_saved_at == kNoFrame) rbp_saved_at = depth;
        break;
      case StackEffect::kMove:
        depth += instruction.delta;
        break;
      case StackEffect::kPopRbp:
        depth -= 8;
        frame = kNoFrame;
        break;
      case StackEffect::kSetFrame:
        frame = depth;
        break;
      case StackEffect::kLeave:
        if (frame != kNoFrame) depth = frame - 8;
        frame = kNoFrame;
        break;
      case StackEffect::kReturn:
      case StackEffect::kJump:
        unreachable = true;
        break;
      case StackEffect::kUnknown:
        if (frame == kNoFrame) unknown = true;
        break;
      default:
        break;
    }
    if (depth > deepest) deepest = depth;
    if (frame != kNoFrame) deepest_frame = frame;
    at += instruction.length;
  }
  if (at != pc) return {};
  if (unreachable) {
    depth = deepest;
    frame = deepest_frame;
  }
  if (frame != kNoFrame) return {FrameShape::kAtFp, frame, 0};
  if (unknown || depth < 0) return {};
  const bool saved = rbp_saved_at != kNoFrame && depth >= rbp_saved_at;
  return {FrameShape::kAtSp, depth, saved ? depth - rbp_saved_at : -1};
}

FrameShape ShapeToReturn(uintptr_t pc, uintptr_t end, int limit) {
  int depth = 0;
  int rbp_offset = -1;
  bool through_frame = false;
  uintptr_t around = 0;  // target of the last branch
  for (int i = 0; i < limit; ++i) {
    const Instruction instruction = Decode(pc, end);
    if (instruction.length == 0) return {};
    const uintptr_t target = ConditionalTarget(pc, end);
    if (target != 0) around = target;
    switch (instruction.effect) {
      case StackEffect::kReturn:
        if (through_frame) return depth == 0 ? FrameShape{FrameShape::kAtFp, 8, 0} : FrameShape{};
        return {FrameShape::kAtSp, depth, rbp_offset};
      case StackEffect::kMove:
        if (instruction.delta > 0) return {};
        depth -= instruction.delta;
        break;
      case StackEffect::kPopRbp:
        rbp_offset = depth;
        depth += 8;
        break;
      case StackEffect::kLeave:
        through_frame = true;
        depth = 0;
        break;
      case StackEffect::kNone:
        break;
      case StackEffect::kJump:
        // The wrappers of native methods have the slow path of their poll in line.
        if (around <= pc) return {};
        pc = around;
        continue;
      default:
        return {};
    }
    pc += instruction.length;
  }
  return {};
}

int PoppedBeforeJump(uintptr_t pc, uintptr_t end, int limit) {
  int popped = 0;
  for (int i = 0; i < limit; ++i) {
    const Instruction instruction = Decode(pc, end);
    if (instruction.length == 0) return -1;
    switch (instruction.effect) {
      case StackEffect::kJump:
        return popped;
      case StackEffect::kMove:
      case StackEffect::kPopRbp:
        if (instruction.delta > 0) return -1;
        popped -= instruction.delta;
        break;
      case StackEffect::kNone:
        break;
      default:
        return -1;
    }
    pc += instruction.length;
  }
  return -1;
}

}  // namespace jtrace::samples
