// Compares walks with remembered frames to full walks, for tests. Runs in the sample handler.
#pragma once

#include <ucontext.h>

#include <atomic>
#include <cstdint>

#include "agent/samples/handler/sample_handler.h"
#include "agent/samples/handler/thread_slot.h"
#include "agent/samples/walk/walker.h"
#include "agent/signal_safe/machine_context.h"

namespace jtrace::samples {

// The first two chains that differed, for the reports of tests: their frames from the leaf, at most
// kFrames. The check cannot determine which of them is right.
struct DifferentChains {
  static constexpr uint32_t kFrames = 256;
  std::atomic<bool> taken;  // by the handler that writes it
  std::atomic<bool> ready;  // the rest may be read
  uint64_t pc;              // interrupted
  uint32_t remembered_count;
  uint32_t full_count;
  Frame remembered[kFrames];
  Frame full[kFrames];

  // The first call keeps its chains, the others do nothing.
  void Store(uint64_t interrupted_pc, const Chain& remembered_chain, const Chain& full_chain);
};
extern constinit DifferentChains different_chains;

// Walks without the remembered frames, before and after the walk with them. Tests only.
class FullWalkCheck {
 public:
  FullWalkCheck(const VmLayout* vm, const WalkedThread& thread, const ThreadSlot& slot,
                const ucontext_t* context)
      : vm_(vm), thread_(thread), slot_(slot), context_(context) {
    thread_.memory = nullptr;
    if (slot_.check_storage == nullptr) return;
    Chain full(slot_.check_storage, slot_.chain_capacity);
    before_ = Walk(full);
  }

  // Counts the chain as wrong if it differs from both full walks. If these differ from each other,
  // other threads have loaded or unloaded code meanwhile.
  void Compare(const Chain& chain) const {
    if (slot_.check_storage == nullptr || before_ == 0) return;
    const uint64_t fingerprint = chain.Fingerprint();
    if (fingerprint == 0) return;
    Count(sample_counters.last_walk_checked);
    if (fingerprint == before_) return;
    Chain full(slot_.check_storage, slot_.chain_capacity);
    if (Walk(full) != before_) return;
    Count(sample_counters.last_walk_wrong);
    different_chains.Store(signal_safe::InterruptedPc(*context_), chain, full);
  }

 private:
  uint64_t Walk(Chain& full) const {
    WalkStack(vm_, thread_, context_, full);
    return full.Fingerprint();
  }

  const VmLayout* const vm_;
  WalkedThread thread_;
  const ThreadSlot& slot_;
  const ucontext_t* const context_;
  uint64_t before_ = 0;
};

}  // namespace jtrace::samples
