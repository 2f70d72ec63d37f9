// Reads from nmethods what JVMTI does not report about compiled code, through the tables that
// libjvm exports (vm_structs.h).
#pragma once

#include <cstdint>
#include <mutex>

#include "agent/samples/walk/vm_layout.h"

namespace jtrace::jvm {

// Threads: At on any thread inside CompiledMethodLoad, while the JVM keeps the code alive; CodeOf
// anywhere, while the method's class lives.
class NmethodReader {
 public:
  struct Facts {
    uint32_t level = 0;  // HotSpot's CompLevel; 0: unknown, or made without a compiler
    bool is_native_wrapper = false;
    uint32_t osr_entry = 0;  // the bytecode index at which a loop enters it, plus 1; 0: none
  };

  // `libjvm_address`: any address in libjvm. The tables are read at the first query: before that
  // there may be no code cache.
  explicit NmethodReader(const void* libjvm_address) : libjvm_address_(libjvm_address) {}

  // Describes the code that begins at `address`. All 0 if this JVM's tables lack the entries.
  Facts At(uintptr_t address);
  // Returns where the code begins that calls of HotSpot's Method run, a native method's wrapper
  // included; 0: the method is interpreted. kUnknown if this JVM's tables lack the entries.
  static constexpr uintptr_t kUnknown = ~uintptr_t{0};
  uintptr_t CodeOf(uintptr_t method);

 private:
  void Resolve();

  const void* const libjvm_address_;
  std::once_flag resolved_;
  bool is_known_ = false;
  samples::VmLayout layout_;
  samples::Offset entry_bci_ = samples::kAbsent;
  samples::Offset code_of_method_ = samples::kAbsent;
};

}  // namespace jtrace::jvm
