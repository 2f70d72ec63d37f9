#include "agent/hotspot/compiled_code.h"

#include "agent/hot/walk/code_cache.h"
#include "agent/hotspot/checked_read.h"
#include "agent/hotspot/vm_layout_resolver.h"
#include "agent/hotspot/vm_structs.h"

namespace jtrace::jvmti {
namespace {

constexpr int8_t kLastLevel = 4;  // CompLevel_full_optimization

}  // namespace

void CompiledCode::Resolve() {
  const auto structs = sampling::VmStructs::Of(libjvm_address_);
  if (!structs.ok()) return;
  if (!sampling::ResolveVmLayout(**structs, sampling::LocalSymbols(), &layout_).ok()) return;
  entry_bci_ = (*structs)->Field("nmethod", "_entry_bci");
  code_of_method_ = (*structs)->Field("Method", "_code");
  is_known_ = layout_.nmethod.comp_level != hot::kAbsent;
}

CompiledCode::Facts CompiledCode::At(uintptr_t address) {
  std::call_once(resolved_, [this] { Resolve(); });
  hot::CodeBlob blob;
  if (!is_known_ || !hot::FindBlob(layout_, address, &blob) || blob.code != address) return {};
  if (blob.kind == hot::BlobKind::kNativeNmethod) return {.is_native_wrapper = true};
  if (blob.kind != hot::BlobKind::kNmethod) return {};
  Facts facts;
  // An int in some versions, a byte in others; on x86-64 the first byte has the whole value.
  const auto level = hot::FieldAt<int8_t>(blob.address, layout_.nmethod.comp_level);
  if (level > 0 && level <= kLastLevel) facts.level = static_cast<uint8_t>(level);
  if (entry_bci_ == hot::kAbsent) return facts;
  // InvocationEntryBci is -1.
  facts.osr_entry = static_cast<uint32_t>(hot::FieldAt<int32_t>(blob.address, entry_bci_) + 1);
  return facts;
}

uintptr_t CompiledCode::CodeOf(uintptr_t method) {
  std::call_once(resolved_, [this] { Resolve(); });
  if (!is_known_ || method == 0 || code_of_method_ == hot::kAbsent) return kUnknown;
  uintptr_t nmethod = 0;
  if (!sampling::CheckedCopy(method + static_cast<uintptr_t>(code_of_method_), &nmethod,
                             sizeof nmethod)) {
    return kUnknown;
  }
  hot::CodeBlob blob;
  const bool is_its_own = nmethod != 0 && hot::FindBlob(layout_, nmethod, &blob) &&
                          blob.address == nmethod &&
                          hot::FieldAt<uintptr_t>(nmethod, layout_.nmethod.method) == method;
  return is_its_own ? blob.code : 0;
}

}  // namespace jtrace::jvmti
