#ifndef JTRACE_AGENT_PROBES_BRIDGE_H_
#define JTRACE_AGENT_PROBES_BRIDGE_H_

#include <jvmti.h>

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "agent/hot/layout.h"

namespace jtrace {

struct ProbeOptions {
  bool flat = false;          // record=flat
  uint64_t memory_limit = 0;  // bytes for trees and counters; 0: no limit but the address space
};

// The probes as they are in the JVM. Compiled code refers to the arena for ever, so neither it nor
// the class ever goes away; this object is only the handle to them.
class Probes {
 public:
  explicit Probes(hot::Arena* arena) : arena_(arena) {}
  Probes(const Probes&) = delete;
  Probes& operator=(const Probes&) = delete;

  // For TreeCollector or FlatCollector.
  hot::Arena* arena() const { return arena_; }

  // From CompiledMethodLoad (any tier) and when the last code of a routine was unloaded. Decides
  // for activations in C1-compiled code, which cannot tell themselves; they count as jitted while
  // this is set, and so do interpreted activations of the same method meanwhile. Any thread.
  void SetCompiled(uint32_t routine, bool compiled);

  // Bytes taken for trees and counters so far.
  uint64_t memory_used() const;

 private:
  hot::Arena* arena_;
};

// Defines java.lang.invoke.JTraceProbe into java.base and publishes its arena to ReadPosition and
// MarkThreadEnded. Once per JVM, in VMInit or later, before any class with probes is defined.
// Nothing is printed; no Java exception is left pending. Errors: ResourceExhausted without address
// space; FailedPrecondition if the JVM refuses the class or lacks what it uses; AlreadyExists.
absl::StatusOr<std::unique_ptr<Probes>> Install(jvmtiEnv* jvmti, JNIEnv* jni,
                                                const ProbeOptions& options);

}  // namespace jtrace

#endif  // JTRACE_AGENT_PROBES_BRIDGE_H_
