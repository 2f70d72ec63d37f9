#include "agent/hotspot/jvm_flags.h"

#include <algorithm>

#include "agent/hotspot/load.h"

namespace jtrace::sampling {

JvmFlags::JvmFlags(const VmStructs& structs) {
  constexpr uint64_t kMostFlags = 10'000;
  const hot::Offset name_at = structs.Field("JVMFlag", "_name");
  const hot::Offset value_at = structs.Field("JVMFlag", "_addr");
  const uint32_t size = structs.Size("JVMFlag");
  const uintptr_t flags = structs.StaticPointer("JVMFlag", "flags");
  const uintptr_t count_at = structs.Static("JVMFlag", "numFlags");
  if (name_at == hot::kAbsent || value_at == hot::kAbsent || size == 0 || flags == 0) return;
  const uint64_t count = std::min(Load<uint64_t>(count_at), kMostFlags);
  PageReader reader;
  for (uint64_t i = 0; i < count; ++i) {
    const uintptr_t flag = flags + i * size;
    const auto name = reader.Load<uintptr_t>(flag + static_cast<uintptr_t>(name_at));
    if (name == 0) continue;
    values_.emplace(reader.Text(name),
                    reader.Load<uintptr_t>(flag + static_cast<uintptr_t>(value_at)));
  }
}

template <typename T>
std::optional<T> JvmFlags::Value(std::string_view name) const {
  const auto found = values_.find(std::string(name));
  T value;
  if (found == values_.end() || !CheckedCopy(found->second, &value, sizeof value)) {
    return std::nullopt;
  }
  return value;
}

template std::optional<int64_t> JvmFlags::Value(std::string_view name) const;
template std::optional<double> JvmFlags::Value(std::string_view name) const;

std::optional<bool> JvmFlags::Bool(std::string_view name) const {
  const std::optional<uint8_t> value = Value<uint8_t>(name);
  if (!value.has_value() || *value > 1) return std::nullopt;
  return *value != 0;
}

}  // namespace jtrace::sampling
