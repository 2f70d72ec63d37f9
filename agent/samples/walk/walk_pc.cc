// The parts of the walker that find no callers: the same on all processors.
#include "agent/samples/walk/code_cache.h"
#include "agent/samples/walk/jmethod_ids.h"
#include "agent/samples/walk/walker.h"
#include "agent/signal_safe/machine_context.h"
#include "agent/signal_safe/patch_sites.h"

namespace jtrace::samples {

bool IsApplication(const Frame& frame, const signal_safe::AddressTable& application) {
  switch (frame.kind) {
    case FrameKind::kInterpreted:
    case FrameKind::kCompiled:
    case FrameKind::kInlined:
      return application.Contains(frame.value);
    case FrameKind::kMarker:
      return true;
    default:
      return false;
  }
}

void WalkPc(const VmLayout* vm, const ucontext_t* context, Chain& chain) {
  const uintptr_t pc = signal_safe::OriginalPc(signal_safe::InterruptedPc(*context));
  CodeBlob blob;
  if (vm == nullptr || !vm->InCodeCache(pc)) {
    chain.Push(FrameKind::kNative, pc, -1);
  } else if (vm->InInterpreter(pc) || !FindBlob(*vm, pc, &blob) || !blob.IsCompiled()) {
    chain.Push(FrameKind::kStub, pc, -1);
  } else {
    const auto method = FieldAt<uintptr_t>(blob.address, vm->nmethod.method);
    PushMethod(*vm, chain, FrameKind::kCompiled, method, -1, 0);
  }
}

}  // namespace jtrace::samples
