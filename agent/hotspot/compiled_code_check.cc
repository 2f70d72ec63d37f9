#include "agent/hotspot/compiled_code_check.h"

#include <algorithm>
#include <span>

#include "agent/hot/memory/safe_read.h"
#include "agent/hot/walk/debug_info.h"
#include "agent/hot/walk/method_ref.h"
#include "agent/hotspot/machine_code.h"

namespace jtrace::sampling {
namespace {

using hot::kAbsent;
using hot::Offset;

// The number of compilations needed for a decision.
constexpr int kEnoughCompilations = 16;

// A field of the nmethod, or nothing where this JVM has none.
class Fields {
 public:
  explicit Fields(const hot::CodeBlob& nmethod) : nmethod_(nmethod) {}

  uintptr_t Pointer(Offset at) const {
    return hot::SafeReadOr0(nmethod_.address + static_cast<uintptr_t>(at));
  }
  template <typename T>
  T Number(Offset at) const {
    T value;
    return hot::SafeRead(nmethod_.address + static_cast<uintptr_t>(at), &value) ? value : T{};
  }
  bool IsInCode(uintptr_t pc) const { return pc >= nmethod_.code && pc <= nmethod_.end; }
  // 0 is none: native wrappers have no such place.
  bool IsPlaceOrNone(Offset pointer) const {
    return pointer == kAbsent || Pointer(pointer) == 0 || IsInCode(Pointer(pointer));
  }
  // From the begin of the nmethod; 0 and less is none.
  bool IsOffsetOrNone(Offset at) const {
    if (at == kAbsent) return true;
    const auto offset = Number<int32_t>(at);
    return offset <= 0 || IsInCode(nmethod_.address + static_cast<uintptr_t>(offset));
  }

 private:
  const hot::CodeBlob& nmethod_;
};

uintptr_t VerifiedEntry(const hot::VmLayout& vm, const hot::CodeBlob& nmethod) {
  const Fields fields(nmethod);
  return vm.nmethod.verified_entry_offset != kAbsent
             ? nmethod.code + fields.Number<uint16_t>(vm.nmethod.verified_entry_offset)
             : fields.Pointer(vm.nmethod.verified_entry);
}

bool PlacesArePossible(const hot::VmLayout& vm, const hot::CodeBlob& nmethod) {
  const Fields fields(nmethod);
  const auto& at = vm.nmethod;
  const int32_t orig_pc =
      at.orig_pc_offset == kAbsent ? 0 : fields.Number<int32_t>(at.orig_pc_offset);
  return fields.IsPlaceOrNone(at.osr_entry) && fields.IsPlaceOrNone(at.deopt_handler) &&
         fields.IsPlaceOrNone(at.deopt_mh_handler) &&
         fields.IsOffsetOrNone(at.deopt_handler_offset) &&
         fields.IsOffsetOrNone(at.deopt_mh_handler_offset) && orig_pc >= 0 &&
         orig_pc < 8 * nmethod.frame_size;
}

// Where the JVM says that the frame is complete: behind that code, and before much else.
bool IsCompleteNear(const hot::VmLayout& vm, const hot::CodeBlob& nmethod, uintptr_t made) {
  constexpr uintptr_t kMostBetween = 128;  // e.g. the check whether the method is still valid
  const Fields fields(nmethod);
  const int32_t complete = vm.blob.frame_complete_is_short
                               ? fields.Number<int16_t>(vm.blob.frame_complete)
                               : fields.Number<int32_t>(vm.blob.frame_complete);
  if (complete <= 0) return true;  // a compiler that does not say
  const uintptr_t at = nmethod.code + static_cast<uintptr_t>(intptr_t{complete});
  return at >= made && at - made <= kMostBetween;
}

constexpr uint32_t kBiases[] = {0, 1};
// The number of compilations needed for a decision.
constexpr int kEnough = 16;
// The rows of a compilation that are compared.
constexpr size_t kMostRows = 32;

// Whether `scope`, and its callers, are the methods and bytecode indexes of the row.
bool IsRow(const hot::VmLayout& vm, const hot::DebugInfo& info, const PCStackInfo& row) {
  int32_t at = info.ScopeAt(reinterpret_cast<uintptr_t>(row.pc));
  for (jint i = 0; i < row.numstackframes; ++i) {
    hot::DebugInfo::Scope scope;
    if (at <= 0 || !info.ReadScope(at, &scope) || scope.bci != row.bcis[i]) return false;
    const auto id = reinterpret_cast<uintptr_t>(row.methods[i]);
    if (vm.method.ids_point_to_methods && hot::SafeReadOr0(id) != scope.method) return false;
    at = scope.sender;
  }
  return at == 0;
}

}  // namespace

std::optional<bool> CompiledCodeCheck::Agrees(uintptr_t code, const hot::CodeBlob& nmethod) const {
  if (!nmethod.IsCompiled() || nmethod.code != code) return false;
  const uintptr_t entry = VerifiedEntry(*layout_, nmethod);
  if (entry < code || entry >= nmethod.end) return false;
  const uintptr_t method = Fields(nmethod).Pointer(layout_->nmethod.method);
  if (!hot::LooksLikeMethod(*layout_, method)) return false;
  if (nmethod.kind == hot::BlobKind::kNativeNmethod) return std::nullopt;
  const std::optional<uintptr_t> made = FrameMadeAt(entry, nmethod);
  if (!made.has_value()) return std::nullopt;
  return *made != 0 && IsCompleteNear(*layout_, nmethod, *made) &&
         PlacesArePossible(*layout_, nmethod);
}

bool CompiledCodeCheck::Look(uintptr_t code, const hot::CodeBlob& nmethod) {
  const absl::MutexLock lock(&mutex_);
  if (agreed_ >= kEnoughCompilations || disagreed_ >= kEnoughCompilations) return false;
  const std::optional<bool> agrees = Agrees(code, nmethod);
  if (!agrees.has_value()) return false;
  if (*agrees) {
    ++agreed_;
    return false;
  }
  // Wrong fields are wrong in nearly all.
  constexpr int kMostRightShare = 4;
  if (++disagreed_ < kEnoughCompilations / 2 || agreed_ * kMostRightShare > disagreed_) {
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
                            const hot::CodeBlob& nmethod, uint32_t bias) const {
  const hot::DebugInfo info(*layout_, nmethod, bias);
  const std::span rows(record.pcinfo, static_cast<size_t>(record.numpcs));
  return std::ranges::all_of(rows.first(std::min(rows.size(), kMostRows)),
                             [&](const PCStackInfo& row) { return IsRow(*layout_, info, row); });
}

bool DebugInfoCheck::Look(const jvmtiCompiledMethodLoadInlineRecord& record,
                          const hot::CodeBlob& nmethod) {
  if (record.numpcs <= 0 || record.pcinfo == nullptr) return false;
  const absl::MutexLock lock(&mutex_);
  if (agreed_ >= kEnough || disagreed_ >= kEnough) return false;
  const uint32_t bias = layout_->unsigned5_bias.load(std::memory_order_relaxed);
  if (Agrees(record, nmethod, bias)) {
    // Small methods read the same with any encoding.
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

}  // namespace jtrace::sampling
