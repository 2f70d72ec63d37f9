#include "agent/calls/probe_sets.h"

#include <utility>

#include "absl/status/status.h"
#include "agent/signal_safe/arena.h"
#include "agent/signal_safe/probe_clock.h"
#include "agent/signal_safe/thread_state.h"

namespace jtrace::calls {

absl::StatusOr<ProbeSet*> ProbeSets::FindOrDefine(jvmtiEnv* jvmti, JNIEnv* jni,
                                                  const ProbeOptions& options) {
  for (size_t i = 0; i < kMaxSets; ++i) {
    ProbeSet* known = sets_[i].load(std::memory_order_acquire);
    if (known != nullptr && known->options == options) {
      known->probes->Publish();
      known->probes->Begin();
      return known;
    }
    if (known != nullptr) continue;
    std::unique_ptr<BasicBlockCounters> blocks;
    if (options.blocks) {
      auto reserved = BasicBlockCounters::Reserve(options.path_blocks);
      if (!reserved.ok()) return reserved.status();
      blocks = *std::move(reserved);
    }
    auto probes = DefineProbes(jvmti, jni, options, static_cast<int>(i), blocks.get());
    if (!probes.ok()) return probes.status();
    auto* set = new ProbeSet;
    set->blocks = std::move(blocks);
    set->options = options;
    set->probes = *std::move(probes);
    set->options.metrics.elapsed = set->probes->arena()->elapsed;
    if (options.flat) {
      set->counts = std::make_unique<FlatCollector>(set->probes->arena());
    } else {
      const bool clocked = set->probes->clock() != signal_safe::ProbeClock::kNone;
      // The address space may have provided less than was requested.
      signal_safe::Arena* arena = set->probes->arena();
      const uint64_t bytes = arena->state_limit - signal_safe::kFirstChunk;
      set->trees = std::make_unique<TreeCollector>(
          arena, TreeSettings{.clock = set->probes->clock(),
                              .scale = clocked ? &set->probes->scale() : nullptr,
                              .limits = {.arena_bytes = bytes,
                                         .groups_bytes = bytes / 6,
                                         .prune_percent = options.prune_percent,
                                         .exit_percent = options.exit_percent},
                              .metrics = set->options.metrics,
                              .path_blocks = options.path_blocks ? set->blocks.get() : nullptr});
    }
    if (set->counts != nullptr) set->counts->UseBlocks(set->blocks.get());
    if (set->trees != nullptr) set->trees->UseBlocks(set->blocks.get());
    if (options.log) {
      set->logs = std::make_unique<LogCollector>(set->probes->arena(), set->probes->clock(),
                                                 set->probes->scale());
    }
    sets_[i].store(set, std::memory_order_release);
    return set;
  }
  return absl::ResourceExhaustedError(
      "this JVM has seen too many kinds of probes; use options of an earlier recording");
}

void ProbeSets::ChargeRemainder(uint64_t java_tid) const {
  for (const std::atomic<ProbeSet*>& entry : sets_) {
    const ProbeSet* set = entry.load(std::memory_order_acquire);
    if (set == nullptr) return;
    if (set->options.metrics.empty()) continue;
    signal_safe::ThreadState* state = signal_safe::FindThreadState(set->probes->arena(), java_tid);
    if (state != nullptr) {
      calls::ChargeRemainder(set->options.metrics, *state, set->trees->metrics_offset());
    }
  }
}

void ProbeSets::NotifyThreadEnded(uint64_t java_tid) const {
  for (const std::atomic<ProbeSet*>& entry : sets_) {
    const ProbeSet* set = entry.load(std::memory_order_acquire);
    if (set == nullptr) return;
    signal_safe::NotifyThreadEnded(set->probes->arena(), java_tid);
  }
}

}  // namespace jtrace::calls
