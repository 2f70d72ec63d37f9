#include "agent/jvm/hotspot/compiled_code_check.h"

#include <algorithm>
#include <span>

#include "agent/jvm/hotspot/checked_read.h"
#include "agent/jvm/hotspot/machine_code.h"
#include "agent/jvm/hotspot/vm_layout_resolver.h"
#include "agent/jvm/hotspot/vm_structs.h"
#include "agent/samples/walk/code_cache.h"
#include "agent/samples/walk/debug_info.h"
#include "agent/samples/walk/method_ref.h"
#include "agent/signal_safe/safe_read.h"

namespace jtrace::jvm {
namespace {

using samples::kAbsent;
using samples::Offset;

// The number of compilations needed for a decision.
constexpr int kEnoughCompilations = 16;

// Reads fields of an nmethod with guarded loads; 0 if one cannot be read.
class Fields {
 public:
  explicit Fields(const samples::CodeBlob& nmethod) : nmethod_(nmethod) {}

  uintptr_t Pointer(Offset at) const {
    return signal_safe::SafeReadOr0(nmethod_.address + static_cast<uintptr_t>(at));
  }
  template <typename T>
  T Number(Offset at) const {
    T value;
    return signal_safe::SafeRead(nmethod_.address + static_cast<uintptr_t>(at), &value) ? value
                                                                                        : T{};
  }
  bool IsInCode(uintptr_t pc) const { return pc >= nmethod_.code && pc <= nmethod_.end; }
  // Whether the field is absent, 0 (as in native wrappers) or an address in the code.
  bool IsAddressOrNone(Offset pointer) const {
    return pointer == kAbsent || Pointer(pointer) == 0 || IsInCode(Pointer(pointer));
  }
  // The same for an offset from the begin of the nmethod; 0 and less mean none.
  bool IsOffsetOrNone(Offset at) const {
    if (at == kAbsent) return true;
    const auto offset = Number<int32_t>(at);
    return offset <= 0 || IsInCode(nmethod_.address + static_cast<uintptr_t>(offset));
  }

 private:
  const samples::CodeBlob& nmethod_;
};

uintptr_t VerifiedEntry(const samples::VmLayout& vm, const samples::CodeBlob& nmethod) {
  const Fields fields(nmethod);
  return vm.nmethod.verified_entry_offset != kAbsent
             ? nmethod.code + fields.Number<uint16_t>(vm.nmethod.verified_entry_offset)
             : fields.Pointer(vm.nmethod.verified_entry);
}

bool AddressesArePossible(const samples::VmLayout& vm, const samples::CodeBlob& nmethod) {
  const Fields fields(nmethod);
  const auto& at = vm.nmethod;
  const int32_t orig_pc =
      at.orig_pc_offset == kAbsent ? 0 : fields.Number<int32_t>(at.orig_pc_offset);
  return fields.IsAddressOrNone(at.osr_entry) && fields.IsAddressOrNone(at.deopt_handler) &&
         fields.IsAddressOrNone(at.deopt_mh_handler) &&
         fields.IsOffsetOrNone(at.deopt_handler_offset) &&
         fields.IsOffsetOrNone(at.deopt_mh_handler_offset) && orig_pc >= 0 &&
         orig_pc < 8 * nmethod.frame_size;
}

// Whether the JVM says that the frame is complete soon after `made`, where the code has made it.
bool IsCompleteNear(const samples::VmLayout& vm, const samples::CodeBlob& nmethod, uintptr_t made) {
  constexpr uintptr_t kMaxBetween = 128;  // e.g. the check whether the method is still valid
  const Fields fields(nmethod);
  const int32_t complete = vm.blob.frame_complete_is_short
                               ? fields.Number<int16_t>(vm.blob.frame_complete)
                               : fields.Number<int32_t>(vm.blob.frame_complete);
  if (complete <= 0) return true;  // a compiler that does not say
  const uintptr_t at = nmethod.code + static_cast<uintptr_t>(intptr_t{complete});
  return at >= made && at - made <= kMaxBetween;
}

constexpr uint32_t kBiases[] = {0, 1};
// The number of compilations needed for a decision.
constexpr int kEnough = 16;
// The rows of a compilation that are compared.
constexpr size_t kMaxRows = 32;

// Whether the debug information at the row's pc has the row's methods and bytecode indexes.
bool IsRow(const samples::VmLayout& vm, const samples::DebugInfo& info, const PCStackInfo& row) {
  int32_t at = info.ScopeAt(reinterpret_cast<uintptr_t>(row.pc));
  for (jint i = 0; i < row.numstackframes; ++i) {
    samples::DebugInfo::Scope scope;
    if (at <= 0 || !info.ReadScope(at, &scope) || scope.bci != row.bcis[i]) return false;
    const auto id = reinterpret_cast<uintptr_t>(row.methods[i]);
    if (vm.method.ids_point_to_methods && signal_safe::SafeReadOr0(id) != scope.method) {
      return false;
    }
    at = scope.sender;
  }
  return at == 0;
}

constexpr int8_t kLastLevel = 4;  // CompLevel_full_optimization

}  // namespace

std::optional<bool> CompiledCodeCheck::Agrees(uintptr_t code,
                                              const samples::CodeBlob& nmethod) const {
  if (!nmethod.IsCompiled() || nmethod.code != code) return false;
  const uintptr_t entry = VerifiedEntry(*layout_, nmethod);
  if (entry < code || entry >= nmethod.end) return false;
  const uintptr_t method = Fields(nmethod).Pointer(layout_->nmethod.method);
  if (!samples::LooksLikeMethod(*layout_, method)) return false;
  if (nmethod.kind == samples::BlobKind::kNativeNmethod) return std::nullopt;
  const std::optional<uintptr_t> made = FrameSetupEnd(entry, nmethod);
  if (!made.has_value()) return std::nullopt;
  return *made != 0 && IsCompleteNear(*layout_, nmethod, *made) &&
         AddressesArePossible(*layout_, nmethod);
}

bool CompiledCodeCheck::Check(uintptr_t code, const samples::CodeBlob& nmethod) {
  const absl::MutexLock lock(&mutex_);
  if (agreed_ >= kEnoughCompilations || disagreed_ >= kEnoughCompilations) return false;
  const std::optional<bool> agrees = Agrees(code, nmethod);
  if (!agrees.has_value()) return false;
  if (*agrees) {
    ++agreed_;
    return false;
  }
  // Wrong offsets give wrong values for nearly all nmethods.
  constexpr int kMaxRightShare = 4;
  if (++disagreed_ < kEnoughCompilations / 2 || agreed_ * kMaxRightShare > disagreed_) {
    return false;
  }
  disagreed_ = kEnoughCompilations;
  layout_->compiled_code_readable.store(false, std::memory_order_relaxed);
  return true;
}

bool CompiledCodeCheck::is_decided() const {
  const absl::MutexLock lock(&mutex_);
  return agreed_ >= kEnoughCompilations || disagreed_ >= kEnoughCompilations;
}

bool DebugInfoCheck::Agrees(const jvmtiCompiledMethodLoadInlineRecord& record,
                            const samples::CodeBlob& nmethod, uint32_t bias) const {
  const samples::DebugInfo info(*layout_, nmethod, bias);
  const std::span rows(record.pcinfo, static_cast<size_t>(record.numpcs));
  return std::ranges::all_of(rows.first(std::min(rows.size(), kMaxRows)),
                             [&](const PCStackInfo& row) { return IsRow(*layout_, info, row); });
}

bool DebugInfoCheck::Check(const jvmtiCompiledMethodLoadInlineRecord& record,
                           const samples::CodeBlob& nmethod) {
  if (record.numpcs <= 0 || record.pcinfo == nullptr) return false;
  const absl::MutexLock lock(&mutex_);
  if (agreed_ >= kEnough || disagreed_ >= kEnough) return false;
  const uint32_t bias = layout_->unsigned5_bias.load(std::memory_order_relaxed);
  if (Agrees(record, nmethod, bias)) {
    // Records of small methods read the same with any encoding, and are not counted.
    const bool differs = std::ranges::none_of(
        kBiases, [&](uint32_t other) { return other != bias && Agrees(record, nmethod, other); });
    agreed_ += differs;
    return false;
  }
  for (const uint32_t other : kBiases) {
    if (other == bias || !Agrees(record, nmethod, other)) continue;
    layout_->unsigned5_bias.store(other, std::memory_order_relaxed);
    return true;
  }
  if (++disagreed_ < kEnough || agreed_ > 0) return false;
  layout_->debug_info_readable.store(false, std::memory_order_relaxed);
  return true;
}

bool DebugInfoCheck::is_decided() const {
  const absl::MutexLock lock(&mutex_);
  return agreed_ >= kEnough || disagreed_ >= kEnough;
}

void CompiledCode::Resolve() {
  const auto structs = VmStructs::Of(libjvm_address_);
  if (!structs.ok()) return;
  if (!ResolveVmLayout(**structs, LocalSymbols(), &layout_).ok()) return;
  entry_bci_ = (*structs)->Field("nmethod", "_entry_bci");
  code_of_method_ = (*structs)->Field("Method", "_code");
  is_known_ = layout_.nmethod.comp_level != samples::kAbsent;
}

CompiledCode::Facts CompiledCode::At(uintptr_t address) {
  std::call_once(resolved_, [this] { Resolve(); });
  samples::CodeBlob blob;
  if (!is_known_ || !samples::FindBlob(layout_, address, &blob) || blob.code != address) return {};
  if (blob.kind == samples::BlobKind::kNativeNmethod) return {.is_native_wrapper = true};
  if (blob.kind != samples::BlobKind::kNmethod) return {};
  Facts facts;
  // The level is an int or a byte, by version. In little-endian memory its first byte is enough.
  const auto level = samples::FieldAt<int8_t>(blob.address, layout_.nmethod.comp_level);
  if (level > 0 && level <= kLastLevel) facts.level = static_cast<uint8_t>(level);
  if (entry_bci_ == samples::kAbsent) return facts;
  // Code that is not OSR has InvocationEntryBci, which is -1.
  facts.osr_entry = static_cast<uint32_t>(samples::FieldAt<int32_t>(blob.address, entry_bci_) + 1);
  return facts;
}

uintptr_t CompiledCode::CodeOf(uintptr_t method) {
  std::call_once(resolved_, [this] { Resolve(); });
  if (!is_known_ || method == 0 || code_of_method_ == samples::kAbsent) return kUnknown;
  uintptr_t nmethod = 0;
  if (!CheckedCopy(method + static_cast<uintptr_t>(code_of_method_), &nmethod, sizeof nmethod)) {
    return kUnknown;
  }
  samples::CodeBlob blob;
  const bool is_its_own = nmethod != 0 && samples::FindBlob(layout_, nmethod, &blob) &&
                          blob.address == nmethod &&
                          samples::FieldAt<uintptr_t>(nmethod, layout_.nmethod.method) == method;
  return is_its_own ? blob.code : 0;
}

}  // namespace jtrace::jvm
