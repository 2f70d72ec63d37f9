// The JVM's -XX flags, by name.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "agent/hotspot/vm_structs.h"

namespace jtrace::sampling {

// HotSpot's own table of flags. In VMInit or later, when they have their values.
class JvmFlags {
 public:
  explicit JvmFlags(const VmStructs& structs);

  // None: this JVM has no such flag, or its value cannot be read. The flag must be a boolean one.
  std::optional<bool> Bool(std::string_view name) const;

 private:
  hot::Offset name_;
  hot::Offset value_;  // pointer to it
  uint32_t size_;
  uintptr_t flags_;
  uint64_t count_ = 0;
};

}  // namespace jtrace::sampling
