// Whether the debug information that C2 keeps for the code between its safepoints can be believed.
#ifndef JTRACE_AGENT_SAMPLING_CODE_NOTES_H_
#define JTRACE_AGENT_SAMPLING_CODE_NOTES_H_

#include <jvmti.h>
#include <jvmticmlr.h>

namespace jtrace::sampling {

// JDK 17 has compilations, large ones mostly, in which it names methods that are inlined somewhere
// else: HotSpot loses track of which note belongs to which instruction while it optimises. What is
// told of a call is right always. So the code right before a call must belong to the method that
// calls, to one inlined into it, or to one that it is inlined into: in sound compilations that
// holds for two thirds and more, in the others for a tenth.
//
// `record` is that of JVMTI CompiledMethodLoad, whose code must be alive. True: most of it is
// wrong.
bool NotesAreWrong(const jvmtiCompiledMethodLoadInlineRecord& record);

// The record in `compile_info`, or null.
const jvmtiCompiledMethodLoadInlineRecord* FindInlineRecord(const void* compile_info);

}  // namespace jtrace::sampling

#endif  // JTRACE_AGENT_SAMPLING_CODE_NOTES_H_
