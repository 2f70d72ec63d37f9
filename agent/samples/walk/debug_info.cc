#include "agent/samples/walk/debug_info.h"

#include "agent/samples/walk/jmethod_ids.h"
#include "agent/signal_safe/safe_read.h"

namespace jtrace::samples {
namespace {

constexpr int kPcDescSize = 16;
constexpr int kMaxPcDescs = 1 << 22;
// C2 inlines at most MaxInlineLevel (15) deep, method handle chains deeper.
constexpr int kMaxInlineDepth = 200;

// Returns the index in [low, high) where `pc` is expected, by interpolation.
int Between(int low, int high, int32_t low_pc, int32_t high_pc, int32_t pc) {
  if (high_pc <= low_pc || pc <= low_pc) return low;
  const int64_t all = int64_t{high_pc} - low_pc;
  const int64_t at = low + (int64_t{high} - low) * (int64_t{pc} - low_pc) / all;
  return static_cast<int>(at < high ? at : high - 1);
}

}  // namespace

uint8_t GuardedBytes::Next() {
  const uintptr_t aligned = at_ & ~uintptr_t{7};
  if (aligned != word_at_) {
    if (!signal_safe::SafeReadWord(aligned, &word_)) {
      ok_ = false;
      return 0;
    }
    word_at_ = aligned;
  }
  return static_cast<uint8_t>(word_ >> (at_++ % 8 * 8));
}

uint32_t GuardedBytes::Unsigned5(uint32_t bias) {
  constexpr uint32_t kLowCodes = 192;  // bytes from here on say that more follow
  constexpr int kBitsPerByte = 6;
  constexpr int kMaxShift = 4 * kBitsPerByte;
  uint32_t byte = Next();
  uint32_t value = byte - bias;
  for (int shift = kBitsPerByte; byte >= kLowCodes && shift <= kMaxShift && ok_;
       shift += kBitsPerByte) {
    byte = Next();
    value += (byte - bias) << shift;
  }
  return value;
}

uintptr_t CompilationKey(const VmLayout& vm, uintptr_t nmethod) {
  if (vm.nmethod.compile_id == kAbsent) return nmethod;
  return nmethod ^ uint64_t { FieldAt<uint32_t>(nmethod, vm.nmethod.compile_id) } << 32;
}

DebugInfo::DebugInfo(const VmLayout& vm, const CodeBlob& nmethod, uint32_t unsigned5_bias)
    : vm_(vm), bias_(unsigned5_bias), nmethod_(nmethod.address), code_(nmethod.code) {
  const uintptr_t nm = nmethod.address;
  const auto& fields = vm.nmethod;
  uintptr_t end;
  if (fields.immutable_data != kAbsent) {
    const auto data = FieldAt<uintptr_t>(nm, fields.immutable_data);
    if (data == 0) return;
    pc_descs_ = data + static_cast<uintptr_t>(FieldAt<int32_t>(nm, fields.scopes_pcs_offset));
    end = data + static_cast<uintptr_t>(FieldAt<int32_t>(nm, fields.scopes_data_offset));
    scopes_ = end;
  } else {
    pc_descs_ = nm + static_cast<uintptr_t>(FieldAt<int32_t>(nm, fields.scopes_pcs_offset));
    end = nm + static_cast<uintptr_t>(FieldAt<int32_t>(nm, fields.dependencies_offset));
    scopes_ = FieldAt<uintptr_t>(nm, fields.scopes_data_begin);
  }
  if (end > pc_descs_ && (end - pc_descs_) / kPcDescSize < kMaxPcDescs) {
    count_ = static_cast<int>((end - pc_descs_) / kPcDescSize);
  }
  // Older JVMs keep the debug information after the code.
  const bool inside = scopes_ > code_ && scopes_ < nmethod.end;
  code_bytes_ = static_cast<int32_t>((inside ? scopes_ : nmethod.end) - code_);
  metadata_ = fields.metadata_offset != kAbsent
                  ? nm + static_cast<uintptr_t>(FieldAt<int32_t>(nm, fields.metadata_offset))
                  : FieldAt<uintptr_t>(nm, vm.blob.mutable_data) +
                        static_cast<uintptr_t>(FieldAt<int32_t>(nm, vm.blob.relocation_size));
}

bool DebugInfo::ReadPcDesc(int index, PcDesc* desc) const {
  const uintptr_t at = pc_descs_ + static_cast<uintptr_t>(index) * kPcDescSize;
  uint32_t pc, scope;
  if (!signal_safe::SafeRead(at, &pc) || !signal_safe::SafeRead(at + 4, &scope)) return false;
  *desc = {static_cast<int32_t>(pc), static_cast<int32_t>(scope)};
  return true;
}

int DebugInfo::LowerBound(int32_t pc, PcDesc* found) const {
  int low = 0, high = count_;
  // PcDescs are distributed about evenly in the code: interpolation gets near with few cold cache
  // lines; halving in turn ensures that the search ends soon.
  int32_t low_pc = 0, high_pc = code_bytes_;
  for (bool guess = true; low < high; guess = !guess) {
    const int middle = guess ? Between(low, high, low_pc, high_pc, pc) : low + (high - low) / 2;
    PcDesc desc;
    if (!ReadPcDesc(middle, &desc)) return count_;
    (desc.pc < pc ? low_pc : high_pc) = desc.pc;
    if (desc.pc < pc) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low < count_ && !ReadPcDesc(low, found)) return count_;
  return low;
}

bool DebugInfo::Describes(uintptr_t pc) const {
  const auto offset = static_cast<int32_t>(pc - code_);
  PcDesc desc;
  return LowerBound(offset, &desc) < count_ && desc.pc == offset;
}

int32_t DebugInfo::ScopeAt(uintptr_t pc) const {
  const auto offset = static_cast<int32_t>(pc - code_);
  PcDesc desc;
  return LowerBound(offset, &desc) < count_ && desc.pc == offset ? desc.scope : 0;
}

bool DebugInfo::ReadScope(int32_t scope, Scope* found) const {
  GuardedBytes in(scopes_ + static_cast<uintptr_t>(scope));
  found->sender = static_cast<int32_t>(in.Unsigned5(bias_));
  const uint32_t method_index = in.Unsigned5(bias_);
  found->bci = static_cast<int32_t>(in.Unsigned5(bias_)) - 1;
  if (!in.ok() || method_index == 0) return false;
  found->method = signal_safe::SafeReadOr0(metadata_ + 8 * uintptr_t{method_index - 1});
  return found->method != 0;
}

bool DebugInfo::DescribesValues(int32_t scope) const {
  constexpr int kHead = 3;    // the caller's scope, method and bytecode index
  constexpr int kValues = 3;  // of locals, expressions, monitors: where they are described, or 0
  GuardedBytes in(scopes_ + static_cast<uintptr_t>(scope));
  for (int i = 0; i < kHead; ++i) in.Unsigned5(bias_);
  bool has_values = false;
  for (int i = 0; i < kValues; ++i) has_values |= in.Unsigned5(bias_) != 0;
  return has_values && in.ok();
}

void DebugInfo::NextSafepoint(int index, PcDesc* found) const {
  constexpr int kMaxReads = 64;
  PcDesc desc = *found;
  for (int i = index; i < count_ && i < index + kMaxReads; ++i) {
    if (!ReadPcDesc(i, &desc)) return;
    if (desc.scope <= 0 || !DescribesValues(desc.scope)) continue;
    *found = desc;
    return;
  }
}

bool DebugInfo::PushScopes(uintptr_t pc, bool interrupted, uint8_t flags, Chain& chain) const {
  if (!vm_.debug_info_readable.load(std::memory_order_relaxed)) return false;
  PcDesc desc;
  const int index = LowerBound(static_cast<int32_t>(pc - code_), &desc);
  if (index >= count_) return false;
  if (interrupted && vm_.unreliable_code != nullptr &&
      vm_.unreliable_code->load(std::memory_order_acquire)
          ->Contains(CompilationKey(vm_, nmethod_))) {
    NextSafepoint(index, &desc);
  }
  bool pushed = false;
  for (int depth = 0; depth < kMaxInlineDepth && desc.scope > 0; ++depth) {
    Scope scope;
    if (!ReadScope(desc.scope, &scope)) break;
    const FrameKind kind = scope.sender > 0 ? FrameKind::kInlined : FrameKind::kCompiled;
    PushMethod(vm_, chain, kind, scope.method, scope.bci, flags);
    pushed = true;
    desc.scope = scope.sender;
  }
  return pushed;
}

}  // namespace jtrace::samples
