#include "agent/jvm/hotspot/jvm_flags.h"

#include <algorithm>

#include "agent/jvm/hotspot/checked_read.h"

namespace jtrace::jvm {

JvmFlags::JvmFlags(const VmStructs& structs) {
  constexpr uint64_t kMaxFlags = 10'000;
  const samples::Offset name_at = structs.Field("JVMFlag", "_name");
  const samples::Offset value_at = structs.Field("JVMFlag", "_addr");
  const samples::Offset origin_at = structs.Field("JVMFlag", "_flags");
  const uint32_t size = structs.Size("JVMFlag");
  const uintptr_t flags = structs.StaticPointer("JVMFlag", "flags");
  const uintptr_t count_at = structs.Static("JVMFlag", "numFlags");
  if (name_at == samples::kAbsent || value_at == samples::kAbsent || size == 0 || flags == 0) {
    return;
  }
  const uint64_t count = std::min(Load<uint64_t>(count_at), kMaxFlags);
  PageReader reader;
  for (uint64_t i = 0; i < count; ++i) {
    const uintptr_t flag = flags + i * size;
    const auto name = reader.Load<uintptr_t>(flag + static_cast<uintptr_t>(name_at));
    if (name == 0) continue;
    const uintptr_t origin =
        origin_at == samples::kAbsent ? 0 : flag + static_cast<uintptr_t>(origin_at);
    flags_.emplace(reader.Text(name),
                   Flag{reader.Load<uintptr_t>(flag + static_cast<uintptr_t>(value_at)), origin});
  }
}

template <typename T>
std::optional<T> JvmFlags::Value(std::string_view name) const {
  const uintptr_t address = AddressOf(name);
  T value;
  if (address == 0 || !CheckedCopy(address, &value, sizeof value)) return std::nullopt;
  return value;
}

template std::optional<int64_t> JvmFlags::Value(std::string_view name) const;
template std::optional<double> JvmFlags::Value(std::string_view name) const;

uintptr_t JvmFlags::AddressOf(std::string_view name) const {
  const auto found = flags_.find(std::string(name));
  return found == flags_.end() ? 0 : found->second.value;
}

std::optional<bool> JvmFlags::IsDefault(std::string_view name) const {
  constexpr uint32_t kOrigin = 0xf;  // the other bits are about the kind of flag
  const auto found = flags_.find(std::string(name));
  uint32_t word;
  if (found == flags_.end() || found->second.origin == 0 ||
      !CheckedCopy(found->second.origin, &word, sizeof word)) {
    return std::nullopt;
  }
  return (word & kOrigin) == 0;
}

std::optional<bool> JvmFlags::Bool(std::string_view name) const {
  const std::optional<uint8_t> value = Value<uint8_t>(name);
  if (!value.has_value() || *value > 1) return std::nullopt;
  return *value != 0;
}

}  // namespace jtrace::jvm
