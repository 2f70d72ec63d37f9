// The JVM's -XX flags, by name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "agent/hotspot/vm_structs.h"

namespace jtrace::sampling {

// HotSpot's own table of flags. In VMInit or later, when they have their values.
class JvmFlags {
 public:
  explicit JvmFlags(const VmStructs& structs);

  // None: this JVM has no such flag, or its value cannot be read or is none of a boolean. The flag
  // must be a boolean one.
  std::optional<bool> Bool(std::string_view name) const;
  // The same for an integer of 64 bits, and for a double.
  std::optional<int64_t> Int(std::string_view name) const { return Value<int64_t>(name); }
  std::optional<double> Double(std::string_view name) const { return Value<double>(name); }

 private:
  template <typename T>
  std::optional<T> Value(std::string_view name) const;

  absl::flat_hash_map<std::string, uintptr_t> values_;  // where they are
};

}  // namespace jtrace::sampling
