#include "agent/recording/probe_settings.h"

#include "agent/base/machine_memory.h"
#include "agent/jvm/jvmti_calls.h"

namespace jtrace {

bool HasTrees(const Options& options) {
  return options.WantsCalls() && options.record == RecordKind::kTree;
}

signal_safe::ProbeClock ProbeClockOf(Clock clock) {
  switch (clock) {
    case Clock::kNone:
      return signal_safe::ProbeClock::kNone;
    case Clock::kCoarse:
    case Clock::kManual:
      return signal_safe::ProbeClock::kCoarse;
    case Clock::kTsc:
      return signal_safe::ProbeClock::kTsc;
    case Clock::kCpu:
      return signal_safe::ProbeClock::kCpu;
  }
  return signal_safe::ProbeClock::kNone;
}

void ChooseTreeMemory(ProbeState& probes, JNIEnv* jni, Options& options) {
  if (options.memory_bytes != 0) return;
  if (probes.tree_memory == 0) {
    probes.tree_memory = DefaultTreeMemory(AvailableMemory(), jvm::MaxHeap(jni));
  }
  options.memory_bytes = probes.tree_memory;
}

calls::ProbeOptions ProbeOptionsOf(const Options& options) {
  // The log's reader follows each thread's position, so its nodes must not be pruned or folded.
  const bool is_log = options.record == RecordKind::kLog;
  // The other quarter is for trees of thread groups, rings and names.
  return {.flat = options.record == RecordKind::kFlat,
          .memory_limit = options.memory_bytes / 4 * 3,
          .log = is_log,
          .clock = ProbeClockOf(options.clock),
          .clock_ticks = options.clock != Clock::kManual,
          .max_depth = options.max_depth,
          .blocks = options.blocks != Blocks::kOff,
          .path_blocks = options.blocks == Blocks::kByPath,
          .call_sites = options.sites,
          .prune_percent = is_log ? 0 : options.prune_percent,
          .exit_percent = options.exit_percent,
          .resting = options.probes_rest};
}

}  // namespace jtrace
