// Whether the debug information that C2 keeps for the code between its safepoints is correct.
#pragma once

#include <jvmti.h>
#include <jvmticmlr.h>

namespace jtrace::sampling {

// JDK 17 has compilations, mostly large ones, in which it names methods that are inlined somewhere
// else: HotSpot loses track of which note belongs to which instruction while it optimises. The
// information about calls is always correct. So the code directly before a call must belong to the
// calling method, to one inlined into it, or to one that it is inlined into: in sound compilations
// this is true for at least two thirds of the calls, in the others for a tenth.
//
// `record` comes from JVMTI CompiledMethodLoad; its code must be alive. True: most of it is wrong.
bool NotesAreWrong(const jvmtiCompiledMethodLoadInlineRecord& record);

// The record in `compile_info`, or null.
const jvmtiCompiledMethodLoadInlineRecord* FindInlineRecord(const void* compile_info);

}  // namespace jtrace::sampling
