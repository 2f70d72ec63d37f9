// Checks that the walker reads from nmethods what the JVM reports about them.
#pragma once

#include <jvmti.h>
#include <jvmticmlr.h>

#include <optional>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "agent/hot/walk/code_cache.h"
#include "agent/hot/walk/vm_layout.h"

namespace jtrace::sampling {

// JVMTI CompiledMethodLoad reports where a method's code begins and how long it is, and the code
// itself shows how large its frame is: it begins by making it. If the fields of the first nmethods
// have other values, the layout's compiled_code_readable becomes false. Entries, handlers and
// Methods must at least be possible ones.
//
// Thread-safe.
class CompiledCodeCheck {
 public:
  explicit CompiledCodeCheck(hot::VmLayout* layout) : layout_(layout) {}

  // `code`: as reported, of the living `nmethod`. True: what was read so far may be wrong.
  bool Look(uintptr_t code, const hot::CodeBlob& nmethod);
  // More nmethods change nothing.
  bool is_decided() const;

 private:
  // Nothing if the nmethod does not show it: native wrappers, methods that are out of use.
  std::optional<bool> Agrees(uintptr_t code, const hot::CodeBlob& nmethod) const;

  hot::VmLayout* const layout_;
  mutable absl::Mutex mutex_;
  int agreed_ ABSL_GUARDED_BY(mutex_) = 0;
  int disagreed_ ABSL_GUARDED_BY(mutex_) = 0;
};

// Checks that the walker reads from compiled code what the JVM reports about it.
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
