// Checks that the walker reads from compiled code what the JVM reports about it.
#pragma once

#include <jvmti.h>
#include <jvmticmlr.h>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "agent/hot/walk/code_cache.h"
#include "agent/hot/walk/vm_layout.h"

namespace jtrace::sampling {

// Releases of the JVM encode debug information differently, and no table says how. The record of
// JVMTI CompiledMethodLoad lists the same methods and bytecode indexes as plain data: the encoding
// with which the walker reads the same values is the right one. If no known encoding matches, the
// layout's debug_info_readable becomes false.
//
// Thread-safe.
class DebugInfoCheck {
 public:
  explicit DebugInfoCheck(hot::VmLayout* layout) : layout_(layout) {}

  // record: about the code of `nmethod`, which is alive. True: the data read so far may be wrong.
  bool Look(const jvmtiCompiledMethodLoadInlineRecord& record, const hot::CodeBlob& nmethod);
  // More records change nothing.
  bool is_decided() const;

 private:
  // Whether all of the record's rows read the same with `bias`.
  bool Agrees(const jvmtiCompiledMethodLoadInlineRecord& record, const hot::CodeBlob& nmethod,
              uint32_t bias) const;

  hot::VmLayout* const layout_;
  mutable absl::Mutex mutex_;
  int agreed_ ABSL_GUARDED_BY(mutex_) = 0;
  int disagreed_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace jtrace::sampling
