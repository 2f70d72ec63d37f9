// The JVM's -XX flags, by name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "agent/jvm/hotspot/vm_structs.h"

namespace jtrace::jvm {

// Reads HotSpot's own table of flags. Made in VMInit or later, when the flags have their values.
class JvmFlags {
 public:
  explicit JvmFlags(const VmStructs& structs);

  // Returns the value of a boolean flag. None: this JVM has no such flag, its value cannot be read,
  // or it is neither 0 nor 1.
  std::optional<bool> Bool(std::string_view name) const;
  // The same for an integer of 64 bits, and for a double.
  std::optional<int64_t> Int(std::string_view name) const { return Value<int64_t>(name); }
  std::optional<double> Double(std::string_view name) const { return Value<double>(name); }

  // Returns the address of the flag's value; 0: this JVM has no such flag.
  uintptr_t AddressOf(std::string_view name) const;
  // Whether neither the user nor the JVM, from other flags, has chosen the value. None: unknown.
  std::optional<bool> IsDefault(std::string_view name) const;

 private:
  struct Flag {
    uintptr_t value = 0;   // address of the value
    uintptr_t origin = 0;  // address of the word that says who chose the value; 0: unknown
  };

  template <typename T>
  std::optional<T> Value(std::string_view name) const;

  absl::flat_hash_map<std::string, Flag> flags_;
};

}  // namespace jtrace::jvm
