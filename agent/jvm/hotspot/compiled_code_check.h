// Checks that the fields of nmethods are where the JVM's tables say.
#pragma once

#include <cstdint>
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

}  // namespace jtrace::jvm
