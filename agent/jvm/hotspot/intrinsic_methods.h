// Names of the methods that the JVM generates for method handles: MethodHandle.invokeBasic,
// linkToStatic and similar, one for each shape of arguments. They are in no class's list of methods
// and have no jmethodID, so only the JVM's memory names them. The JVM never frees them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "agent/jvm/hotspot/vm_structs.h"
#include "agent/samples/walk/vm_layout.h"

namespace jtrace::jvm {

// The name of a method that the JVM generated for method handles.
struct IntrinsicMethod {
  std::string name;
  std::string descriptor;  // JVMS §4.3.3
};

class IntrinsicNames {
 public:
  static constexpr std::string_view kClass = "java.lang.invoke.MethodHandle";

  IntrinsicNames() = default;  // names nothing
  IntrinsicNames(const VmStructs& structs, const samples::VmLayout& layout);

  // Returns the names of the Method at `method` if its class is MethodHandle; any other may be
  // freed by now. Loads are guarded. Any thread, but not signal handlers, because it allocates.
  std::optional<IntrinsicMethod> Find(uintptr_t method) const;

 private:
  std::string SymbolAt(uintptr_t address) const;
  // Returns the text in the constant pool at the index that is the u2 at `index_address`.
  std::string PoolText(uintptr_t constants, uintptr_t index_address) const;

  bool usable_ = false;
  samples::Offset const_method_ = samples::kAbsent;
  samples::Offset constants_ = samples::kAbsent;
  samples::Offset pool_holder_ = samples::kAbsent;
  samples::Offset name_index_ = samples::kAbsent;
  samples::Offset signature_index_ = samples::kAbsent;
  samples::Offset klass_name_ = samples::kAbsent;
  samples::Offset symbol_length_ = samples::kAbsent;
  samples::Offset symbol_body_ = samples::kAbsent;
  uint32_t pool_size_ = 0;  // sizeof(ConstantPool): the entries follow it
};

}  // namespace jtrace::jvm
