#include "agent/samples/walk/return_address.h"

#include <cstring>

#include "agent/samples/walk/call_instruction.h"
#include "agent/samples/walk/debug_info.h"
#include "agent/samples/walk/frame_cache.h"
#include "agent/samples/walk/jmethod_ids.h"
#include "agent/samples/walk/object_lookup.h"
#include "agent/samples/walk/walk_state.h"
#include "agent/samples/walk/x86_64_code.h"

namespace jtrace::samples {
namespace {

bool FollowsCallInObject(uintptr_t value) {
  MappedDso object;
  if (!FindMappedDso(value, &object) || value - object.begin < 16) return false;
  // Parts of an object's range may be unmapped (gaps between its segments).
  const uintptr_t first = (value - 8) & ~uintptr_t{7};
  uintptr_t words[2] = {};
  if (!signal_safe::SafeReadWord(first, &words[0])) return false;
  if (value % 8 != 0 && !signal_safe::SafeReadWord(first + 8, &words[1])) return false;
  uint8_t bytes[16];
  std::memcpy(bytes, words, sizeof bytes);
  return EndsWithCall(bytes + (value - 8 - first));
}

bool IsJavaReturnAddress(const VmLayout& vm, uintptr_t value) {
  if (value == vm.call_stub_return || vm.InInterpreter(value) ||
      value == vm.continuation_return_barrier.load(std::memory_order_relaxed)) {
    return true;
  }
  CodeBlob blob;
  if (!FindBlob(vm, value, &blob) || value <= blob.code) return false;
  uint8_t bytes[8];
  std::memcpy(bytes, reinterpret_cast<const void*>(value - 8), sizeof bytes);
  if (EndsWithCall(bytes)) return true;
  if (!blob.IsCompiled()) return false;
  return IsDeoptHandler(vm, blob, value) || DebugInfo(vm, blob).Describes(value);
}

bool InterpreterFrameLooksValid(const WalkState& walk, uintptr_t sp, uintptr_t fp) {
  uintptr_t return_address, method;
  if (fp < sp - 16 || !walk.cursor.Load(fp + 8, &return_address) ||
      !walk.cursor.Load(fp + kInterpreterMethod, &method)) {
    return false;
  }
  return IsReturnAddress(walk, return_address, Callers::kJava) && LooksLikeMethod(*walk.vm, method);
}

}  // namespace

bool IsDeoptHandler(const VmLayout& vm, const CodeBlob& nmethod, uintptr_t pc) {
  const auto& fields = vm.nmethod;
  const auto matches = [&](Offset pointer, Offset offset) {
    if (offset != kAbsent) {
      return pc == nmethod.address + static_cast<uintptr_t>(static_cast<intptr_t>(
                                         FieldAt<int32_t>(nmethod.address, offset)));
    }
    return pointer != kAbsent && pc == FieldAt<uintptr_t>(nmethod.address, pointer);
  };
  return matches(fields.deopt_handler, fields.deopt_handler_offset) ||
         matches(fields.deopt_mh_handler, fields.deopt_mh_handler_offset);
}

bool IsReturnAddress(const WalkState& walk, uintptr_t value, Callers callers) {
  if (walk.InCodeCache(value)) {
    CachedFrame known;
    return (walk.last_walk != nullptr && FindCachedFrame(*walk.vm, value, false, &known)) ||
           IsJavaReturnAddress(*walk.vm, value);
  }
  return callers == Callers::kAny && FollowsCallInObject(value);
}

bool CallerLooksValid(const WalkState& walk, uintptr_t pc, uintptr_t sp, uintptr_t fp) {
  const Cursor& cursor = walk.cursor;
  if (sp >= cursor.stack_high || sp % 8 != 0) return false;
  if (!walk.InCodeCache(pc)) {
    MappedDso object;
    return FindMappedDso(pc, &object);
  }
  uintptr_t return_address;
  if (pc == walk.vm->call_stub_return) {
    return fp >= sp && cursor.Load(fp + 8, &return_address) && !walk.InCodeCache(return_address);
  }
  if (walk.vm->InInterpreter(pc)) return InterpreterFrameLooksValid(walk, sp, fp);
  CodeBlob blob;
  if (!FindBlob(*walk.vm, pc, &blob)) return false;
  if (!blob.IsCompiled()) return true;
  return blob.frame_size > 0 &&
         cursor.Load(sp + 8 * static_cast<uint64_t>(blob.frame_size - 1), &return_address) &&
         IsReturnAddress(walk, return_address, Callers::kJava);
}

bool ReturnThrough(WalkState& walk, uintptr_t slot, SavedFp caller_fp, Callers callers) {
  uintptr_t value;
  if (!walk.cursor.Load(slot, &value) || !IsReturnAddress(walk, value, callers)) return false;
  walk.cursor.Return(value, slot, slot + 8, caller_fp);
  return true;
}

bool ReturnThroughFp(WalkState& walk, Callers callers) {
  const uintptr_t fp = walk.cursor.fp;
  SavedFp caller_fp;
  return fp + 8 >= walk.cursor.sp && walk.cursor.LoadFp(fp, &caller_fp) &&
         ReturnThrough(walk, fp + 8, caller_fp, callers);
}

bool ReturnByScan(WalkState& walk, uintptr_t slot, int words, Callers callers) {
  Cursor& cursor = walk.cursor;
  for (const uintptr_t end = slot + 8 * static_cast<uintptr_t>(words); slot < end; slot += 8) {
    uintptr_t value;
    if (!cursor.Load(slot, &value)) return false;
    if (!IsReturnAddress(walk, value, callers)) continue;
    // The word below may be the rbp that a prologue saved.
    SavedFp caller_fp = cursor.OwnFp();
    SavedFp below;
    if (slot - 8 >= cursor.sp && cursor.LoadFp(slot - 8, &below) && below.value >= slot &&
        below.value < cursor.stack_high) {
      caller_fp = below;
    }
    if (!CallerLooksValid(walk, value, slot + 8, caller_fp.value)) continue;
    cursor.Return(value, slot, slot + 8, caller_fp);
    walk.chain.SetGuessed();
    return true;
  }
  return false;
}

}  // namespace jtrace::samples
