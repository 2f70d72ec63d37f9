// The JVM's -XX flags, by name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "agent/jvm/vm_structs.h"

namespace jtrace::jvm {

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

  // Where the value is; 0: this JVM has no such flag.
  uintptr_t AddressOf(std::string_view name) const;
  // Whether nobody chose its value: not the user, nor the JVM from other flags. None: not known.
  std::optional<bool> IsDefault(std::string_view name) const;

 private:
  struct Flag {
    uintptr_t value = 0;   // where it is
    uintptr_t origin = 0;  // where the word is that says who chose it; 0: not known
  };

  template <typename T>
  std::optional<T> Value(std::string_view name) const;

  absl::flat_hash_map<std::string, Flag> flags_;
};

}  // namespace jtrace::jvm
