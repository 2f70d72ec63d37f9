// Checks what is read of Methods and of threads by objects whose values are known another way.
#pragma once

#include <jni.h>

#include <string_view>
#include <vector>

#include "agent/jvm/jvm_flags.h"
#include "agent/jvm/vm_structs.h"
#include "agent/samples/walk/vm_layout.h"

namespace jtrace::jvm {

// A part of the JVM's data that is not read, and why.
struct PartProblem {
  VmPart part;
  std::string_view what;  // a constant
};

// Reads java.lang.Object.equals through the layout and compares it with JNI's class and id and with
// its bytecodes; `method`: HotSpot's Method of it. On a Java thread.
bool ReadsKnownMethod(JNIEnv* env, const samples::VmLayout& layout, uintptr_t method,
                      uintptr_t klass);

// Compares what the layout says of the current thread with what the system and JNI say: its stack,
// its number in the kernel, its state, the Thread that it runs. What differs is switched off in
// `layout` and added to `problems`. `java_thread`: of the current thread, which is a Java thread in
// a callback of JVMTI.
void CheckCurrentThread(JNIEnv* env, uintptr_t java_thread, samples::VmLayout* layout,
                        std::vector<PartProblem>* problems);

// Adds the parts of which this JVM's tables lack entries, or have impossible ones.
void FindMissingParts(const VmStructs& structs, const JvmFlags& flags,
                      const samples::VmLayout& layout, std::vector<PartProblem>* problems);

}  // namespace jtrace::jvm
