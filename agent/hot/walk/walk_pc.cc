// The parts of the walker that need no caller.
#include "agent/hot/memory/hook_sites.h"
#include "agent/hot/memory/machine_context.h"
#include "agent/hot/walk/code_cache.h"
#include "agent/hot/walk/method_ref.h"
#include "agent/hot/walk/walker.h"

namespace jtrace::hot {

bool IsApplication(const Frame& frame, const AddressTable& application) {
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
  const uintptr_t pc = OriginalPc(InterruptedPc(*context));
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

}  // namespace jtrace::hot
