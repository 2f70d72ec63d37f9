#include "agent/hotspot/jvm_flags.h"

#include "agent/hotspot/load.h"

namespace jtrace::sampling {

JvmFlags::JvmFlags(const VmStructs& structs)
    : name_(structs.Field("JVMFlag", "_name")),
      value_(structs.Field("JVMFlag", "_addr")),
      size_(structs.Size("JVMFlag")),
      flags_(structs.StaticPointer("JVMFlag", "flags")) {
  const uintptr_t count_at = structs.Static("JVMFlag", "numFlags");
  const bool known = name_ != hot::kAbsent && value_ != hot::kAbsent && size_ != 0 && flags_ != 0;
  if (known && count_at != 0) count_ = Load<size_t>(count_at);
}

std::optional<bool> JvmFlags::Bool(std::string_view name) const {
  for (uint64_t i = 0; i < count_; ++i) {
    const uintptr_t flag = flags_ + i * size_;
    const auto* const its_name = Load<const char*>(flag + static_cast<uintptr_t>(name_));
    if (its_name == nullptr || its_name != name) continue;
    return Load<uint8_t>(Load<uintptr_t>(flag + static_cast<uintptr_t>(value_))) != 0;
  }
  return std::nullopt;
}

}  // namespace jtrace::sampling
