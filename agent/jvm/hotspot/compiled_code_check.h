// Checks that the walker reads from nmethods what the JVM reports about them.
#pragma once

#include <jvmti.h>
#include <jvmticmlr.h>

#include <cstdint>
#include <mutex>
#include <optional>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "agent/samples/walk/code_cache.h"
#include "agent/samples/walk/vm_layout.h"

namespace jtrace::jvm {

// Checks the fields of nmethods. JVMTI CompiledMethodLoad reports where a method's code begins, and
// the first instructions of the code show how large its frame is. If the first nmethods have other
// values in these fields, the layout's compiled_code_readable becomes false. Entry points, handlers
// and Methods must at least have possible values.
//
// Thread-safe.
class CompiledCodeCheck {
 public:
  explicit CompiledCodeCheck(samples::VmLayout* layout) : layout_(layout) {}

  // `code`: the reported begin of the code of `nmethod`, which is alive. Returns true if what was
  // read so far may be wrong.
  bool Check(uintptr_t code, const samples::CodeBlob& nmethod);
  // Whether enough nmethods were checked: more of them change nothing.
  bool is_decided() const;

 private:
  // Returns nothing if the code does not show it: native wrappers, methods that are out of use.
  std::optional<bool> Agrees(uintptr_t code, const samples::CodeBlob& nmethod) const;

  samples::VmLayout* const layout_;
  mutable absl::Mutex mutex_;
  int agreed_ ABSL_GUARDED_BY(mutex_) = 0;
  int disagreed_ ABSL_GUARDED_BY(mutex_) = 0;
};

// Finds the encoding of debug information: releases of the JVM encode it differently, and no table
// says how. The record of JVMTI CompiledMethodLoad lists the same methods and bytecode indexes as
// plain data: the encoding with which the walker reads the same values is the right one. If no
// known encoding matches, the layout's debug_info_readable becomes false.
//
// Thread-safe.
class DebugInfoCheck {
 public:
  explicit DebugInfoCheck(samples::VmLayout* layout) : layout_(layout) {}

  // `record` is about the code of `nmethod`, which is alive. Returns true if the debug information
  // read so far may be wrong.
  bool Check(const jvmtiCompiledMethodLoadInlineRecord& record, const samples::CodeBlob& nmethod);
  // Whether enough records were checked: more of them change nothing.
  bool is_decided() const;

 private:
  // Whether all of the record's rows read the same with `bias`.
  bool Agrees(const jvmtiCompiledMethodLoadInlineRecord& record, const samples::CodeBlob& nmethod,
              uint32_t bias) const;

  samples::VmLayout* const layout_;
  mutable absl::Mutex mutex_;
  int agreed_ ABSL_GUARDED_BY(mutex_) = 0;
  int disagreed_ ABSL_GUARDED_BY(mutex_) = 0;
};

// Reads from nmethods what JVMTI does not report about compiled code, through the tables that
// libjvm exports (vm_structs.h).
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

  // `libjvm_address`: any address in libjvm. The tables are read at the first query: before that
  // there may be no code cache.
  explicit CompiledCode(const void* libjvm_address) : libjvm_address_(libjvm_address) {}

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
