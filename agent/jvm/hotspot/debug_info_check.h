// Finds the encoding of the debug information in nmethods.
#pragma once

#include <jvmti.h>
#include <jvmticmlr.h>

#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "agent/samples/walk/code_cache.h"
#include "agent/samples/walk/vm_layout.h"

namespace jtrace::jvm {

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

}  // namespace jtrace::jvm
