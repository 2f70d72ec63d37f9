// The walker where nothing steps to a caller: only the interrupted place is known. Samples with
// stack=pc need no more; the options refuse the other modes (agent/options/sample_options.cc).
#include "agent/hot/walk/abilities.h"
#include "agent/hot/walk/cfi.h"
#include "agent/hot/walk/walker.h"

namespace jtrace::hot {

constinit const bool kWalksStacks = false;

MemoryRange CfiRowMemory() { return {nullptr, 0}; }

void WalkStack(const VmLayout* vm, const WalkedThread&, const ucontext_t* context, Chain& chain) {
  WalkPc(vm, context, chain);
  chain.Fail(WalkNote::kNoUnwindRow);
}

void WalkTopFrame(const VmLayout* vm, const WalkedThread&, const ucontext_t* context,
                  Chain& chain) {
  WalkPc(vm, context, chain);
}

void WalkToApplication(const VmLayout*, const WalkedThread&, const ucontext_t*, const AddressTable&,
                       Chain& chain) {
  chain.Fail(WalkNote::kNoUnwindRow);
}

// None was found.
void WalkToJava(const VmLayout*, const WalkedThread&, const ucontext_t*, Chain&) {}

}  // namespace jtrace::hot
