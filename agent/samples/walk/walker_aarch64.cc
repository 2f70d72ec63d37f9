// The walker for a processor without steps to callers: it knows only the interrupted pc. Samples
// with stack=pc need no more; the options refuse the other modes (agent/options/option_table.cc).
#include "agent/samples/walk/cfi.h"
#include "agent/samples/walk/walker.h"

namespace jtrace::samples {

constinit const bool kWalksStacks = false;

MemoryRange CfiRowMemory() { return {nullptr, 0}; }

void WalkStack(const VmLayout* vm, const WalkedThread&, const ucontext_t* context, Chain& chain) {
  WalkPc(vm, context, chain);
  chain.Fail(MissingReason::kNoUnwindRow);
}

void WalkTopFrame(const VmLayout* vm, const WalkedThread&, const ucontext_t* context,
                  Chain& chain) {
  WalkPc(vm, context, chain);
}

void WalkToApplication(const VmLayout*, const WalkedThread&, const ucontext_t*,
                       const signal_safe::AddressTable&, Chain& chain) {
  chain.Fail(MissingReason::kNoUnwindRow);
}

// None was found.
void WalkToJava(const VmLayout*, const WalkedThread&, const ucontext_t*, Chain&) {}

}  // namespace jtrace::samples
