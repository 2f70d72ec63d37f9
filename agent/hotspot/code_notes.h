// Whether the debug information that C2 keeps for the code between its safepoints is correct.
#pragma once

#include "agent/hot/walk/code_cache.h"
#include "agent/hot/walk/vm_layout.h"

namespace jtrace::sampling {

// JDK 17 has compilations, mostly large ones, in which it names methods that are inlined somewhere
// else: HotSpot loses track of which note belongs to which instruction while it optimises. The
// information about calls is always correct. So the code directly before a call must belong to the
// calling method, to one inlined into it, or to one that it is inlined into: in sound compilations
// this is true for at least two thirds of the calls, in the others for a tenth.
//
// True: most of it is wrong. The nmethod may be freed meanwhile: every load is guarded, and the
// answer is about other memory then.
bool NotesAreWrong(const hot::VmLayout& vm, const hot::CodeBlob& nmethod);

}  // namespace jtrace::sampling
