// The probe classes of one JVM, shared by its recordings.
#pragma once

#include <jvmti.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "agent/calls/logs/log_collector.h"
#include "agent/calls/probes.h"
#include "agent/calls/trees/basic_block_counters.h"
#include "agent/calls/trees/flat_collector.h"
#include "agent/calls/trees/tree_collector.h"

namespace jtrace::calls {

// A probe class in the JVM and the readers of its memory.
struct ProbeSet {
  ProbeOptions options;
  std::unique_ptr<Probes> probes;
  std::unique_ptr<TreeCollector> trees;        // record=tree, record=log
  std::unique_ptr<FlatCollector> counts;       // record=flat
  std::unique_ptr<LogCollector> logs;          // record=log
  std::unique_ptr<BasicBlockCounters> blocks;  // blocks=on
};

// A probe class never changes after its definition, and is never unloaded. A recording uses the set
// that earlier ones with the same options left, trees included, or defines a new set. So nothing is
// ever freed under an activation that began in an earlier recording, and its exit finds its token
// valid, however late it runs.
class ProbeSets {
 public:
  static constexpr size_t kMaxSets = 8;

  // Returns the set for these options and publishes its arena. On the thread of a start, one at a
  // time. Errors: those of Install; ResourceExhausted after kMaxSets different options.
  absl::StatusOr<ProbeSet*> FindOrDefine(jvmtiEnv* jvmti, JNIEnv* jni, const ProbeOptions& options);

  // Charges the counts of the calling thread, or of the virtual thread on it, since its last probe
  // to the node where it is: no more probes will follow.
  void ChargeRemainder(uint64_t java_tid) const;

  // Reports to all sets that the thread runs no more Java code: its memory may be reused. Any
  // thread.
  void NotifyThreadEnded(uint64_t java_tid) const;

 private:
  std::array<std::atomic<ProbeSet*>, kMaxSets> sets_ = {};  // never freed: see the class comment
};

}  // namespace jtrace::calls
