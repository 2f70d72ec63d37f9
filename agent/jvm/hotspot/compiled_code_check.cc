#include "agent/jvm/hotspot/compiled_code_check.h"

#include "agent/jvm/hotspot/machine_code.h"
#include "agent/samples/walk/jmethod_ids.h"
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

}  // namespace jtrace::jvm
