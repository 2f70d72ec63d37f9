// Whether a walk with remembered frames finds what one without them does.
#ifndef JTRACE_AGENT_HOT_FULL_WALK_CHECK_H_
#define JTRACE_AGENT_HOT_FULL_WALK_CHECK_H_

#include <ucontext.h>

#include <cstdint>

#include "agent/hot/sample_handler.h"
#include "agent/hot/thread_slot.h"
#include "agent/hot/walk/walker.h"

namespace jtrace::hot {

// Walks without the remembered frames, before and after the walk with them (tests and soaks only).
class FullWalkCheck {
 public:
  FullWalkCheck(const VmLayout* vm, const WalkedThread& thread, const ThreadSlot& slot,
                const ucontext_t* context)
      : vm_(vm), thread_(thread), slot_(slot), context_(context) {
    thread_.memory = nullptr;
    if (slot_.check_storage != nullptr) before_ = Walk();
  }

  // A chain that differs is wrong only if nothing has changed meanwhile: other threads load and
  // unload code while this one is in its handler.
  void Compare(const Chain& chain) const {
    if (slot_.check_storage == nullptr || before_ == 0) return;
    const uint64_t fingerprint = chain.Fingerprint();
    if (fingerprint == 0) return;
    Count(sample_counters.memory_checked);
    if (fingerprint == before_) return;
    if (Walk() == before_) Count(sample_counters.memory_wrong);
  }

 private:
  uint64_t Walk() const {
    Chain full(slot_.check_storage, slot_.chain_capacity);
    WalkStack(vm_, thread_, context_, full);
    return full.Fingerprint();
  }

  const VmLayout* const vm_;
  WalkedThread thread_;
  const ThreadSlot& slot_;
  const ucontext_t* const context_;
  uint64_t before_ = 0;
};

}  // namespace jtrace::hot

#endif  // JTRACE_AGENT_HOT_FULL_WALK_CHECK_H_
