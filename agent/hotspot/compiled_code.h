// Data that the JVM keeps about a piece of compiled code and that JVMTI does not report.
#pragma once

#include <cstdint>
#include <mutex>

#include "agent/hot/walk/vm_layout.h"

namespace jtrace::jvmti {

// Reads nmethods through the tables that libjvm exports (hotspot/vm_structs.h).
//
// Threads: At on any thread inside CompiledMethodLoad, while the JVM keeps the code alive; CodeOf
// anywhere, while the method's class lives.
class CompiledCode {
 public:
  struct Facts {
    uint32_t level = 0;  // HotSpot's CompLevel; 0: unknown, or made without a compiler
    bool is_native_wrapper = false;
    uint32_t osr_entry = 0;  // the bytecode index at which a loop enters it, plus 1; 0: none
  };

  // `libjvm_address`: any address in libjvm. It is read when the first code is reported: before
  // that there may be no code cache.
  explicit CompiledCode(const void* libjvm_address) : libjvm_address_(libjvm_address) {}

  // The code that begins at `address`. All 0 if this JVM's tables lack it.
  Facts At(uintptr_t address);
  // Where the code begins that calls of HotSpot's Method run, a native method's wrapper included;
  // 0: it is interpreted. kUnknown if this JVM's tables lack it.
  static constexpr uintptr_t kUnknown = ~uintptr_t{0};
  uintptr_t CodeOf(uintptr_t method);

 private:
  void Resolve();

  const void* const libjvm_address_;
  std::once_flag resolved_;
  bool is_known_ = false;
  hot::VmLayout layout_;
  hot::Offset entry_bci_ = hot::kAbsent;
  hot::Offset code_of_method_ = hot::kAbsent;
};

}  // namespace jtrace::jvmti
