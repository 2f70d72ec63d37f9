#include "agent/jvm/hotspot/intrinsic_methods.h"

#include <algorithm>
#include <iterator>

#include "agent/signal_safe/safe_read.h"

namespace jtrace::jvm {
namespace {

uintptr_t Follow(uintptr_t object, samples::Offset offset) {
  return object == 0 ? 0 : signal_safe::SafeReadOr0(object + static_cast<uintptr_t>(offset));
}

}  // namespace

IntrinsicNames::IntrinsicNames(const VmStructs& structs, const samples::VmLayout& layout)
    : const_method_(layout.method.const_method),
      constants_(layout.method.constants),
      pool_holder_(layout.method.pool_holder),
      name_index_(structs.Field("ConstMethod", "_name_index")),
      signature_index_(structs.Field("ConstMethod", "_signature_index")),
      klass_name_(structs.Field("Klass", "_name")),
      symbol_length_(structs.Field("Symbol", "_length")),
      symbol_body_(structs.Field("Symbol", "_body[0]")),
      pool_size_(structs.Size("ConstantPool")) {
  const samples::Offset needed[] = {const_method_,    constants_,  pool_holder_,   name_index_,
                                    signature_index_, klass_name_, symbol_length_, symbol_body_};
  usable_ = pool_size_ != 0 &&
            std::find(std::begin(needed), std::end(needed), samples::kAbsent) == std::end(needed);
}

std::string IntrinsicNames::SymbolAt(uintptr_t address) const {
  std::string text;
  uint16_t length;
  if (address == 0 ||
      !signal_safe::SafeRead(address + static_cast<uintptr_t>(symbol_length_), &length)) {
    return text;
  }
  for (uintptr_t at = address + static_cast<uintptr_t>(symbol_body_); text.size() < length; ++at) {
    uint8_t byte;
    if (!signal_safe::SafeRead(at, &byte)) return {};
    text.push_back(static_cast<char>(byte));
  }
  return text;
}

std::string IntrinsicNames::PoolText(uintptr_t constants, uintptr_t index_address) const {
  uint16_t index;
  if (!signal_safe::SafeRead(index_address, &index)) return {};
  // The lowest bit of an entry is a mark of the JVM; the rest is the Symbol's address.
  return SymbolAt(signal_safe::SafeReadOr0(constants + pool_size_ + 8 * uintptr_t{index}) &
                  ~uintptr_t{1});
}

std::optional<IntrinsicMethod> IntrinsicNames::Find(uintptr_t method) const {
  if (!usable_) return std::nullopt;
  const uintptr_t const_method = Follow(method, const_method_);
  const uintptr_t constants = Follow(const_method, constants_);
  const uintptr_t holder = Follow(constants, pool_holder_);
  if (SymbolAt(Follow(holder, klass_name_)) != "java/lang/invoke/MethodHandle") {
    return std::nullopt;
  }
  IntrinsicMethod found;
  found.name = PoolText(constants, const_method + static_cast<uintptr_t>(name_index_));
  found.descriptor = PoolText(constants, const_method + static_cast<uintptr_t>(signature_index_));
  if (found.name.empty() || found.descriptor.empty()) return std::nullopt;
  return found;
}

}  // namespace jtrace::jvm
