#include "agent/jvm/hotspot/nmethod_reader.h"

#include "agent/jvm/hotspot/checked_read.h"
#include "agent/jvm/hotspot/vm_layout_resolver.h"
#include "agent/jvm/hotspot/vm_structs.h"
#include "agent/samples/walk/code_cache.h"

namespace jtrace::jvm {
namespace {

constexpr int8_t kLastLevel = 4;  // CompLevel_full_optimization

}  // namespace

void NmethodReader::Resolve() {
  const auto structs = VmStructs::Of(libjvm_address_);
  if (!structs.ok()) return;
  if (!ResolveVmLayout(**structs, LocalSymbols(), &layout_).ok()) return;
  entry_bci_ = (*structs)->Field("nmethod", "_entry_bci");
  code_of_method_ = (*structs)->Field("Method", "_code");
  is_known_ = layout_.nmethod.comp_level != samples::kAbsent;
}

NmethodReader::Facts NmethodReader::At(uintptr_t address) {
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

uintptr_t NmethodReader::CodeOf(uintptr_t method) {
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
