// The stacks of threads, and what they are in the middle of.
#pragma once

#include <jvmti.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "agent/jvm/class_registry.h"
#include "agent/jvm/jvmti_calls.h"
#include "agent/jvm/thread_registry.h"

namespace jtrace::jvm {

// Calls visit(std::span<const jvmtiFrameInfo>) with the topmost frames, at most 256, of each
// platform thread that runs Java code. Leaves out threads in native code, which may wait there.
// Stops all threads for a moment. Calls nothing if the JVM does not list the stacks. Any Java
// thread, in a LocalFrame: each stack has a local reference to its thread.
template <typename Visit>
void ForEachRunningStack(jvmtiEnv* env, Visit visit) {
  constexpr jint kMaxFrames = 256;
  jint count = 0;
  Allocated<jvmtiStackInfo> stacks(env);
  if (env->GetAllStackTraces(kMaxFrames, stacks.out(), &count) != JVMTI_ERROR_NONE) return;
  for (const jvmtiStackInfo& stack : std::span(stacks.get(), static_cast<size_t>(count))) {
    const bool runs_java = (stack.state & JVMTI_THREAD_STATE_RUNNABLE) != 0 &&
                           (stack.state & JVMTI_THREAD_STATE_IN_NATIVE) == 0;
    if (runs_java) visit(std::span(stack.frame_buffer, static_cast<size_t>(stack.frame_count)));
  }
}

// An activation that has begun the instruction at `bci` of the method's present code.
struct OpenActivation {
  uint64_t java_tid = 0;  // Thread.threadId()
  uint32_t class_id = 0;  // ClassDef.id
  std::string name;
  std::string descriptor;
  uint32_t bci = 0;
};

// Returns the activations of methods of `classes` in all platform threads, thread by thread,
// innermost first; without activations that run code from before a redefinition. Takes one
// safepoint. On a thread that may call JVMTI.
std::vector<OpenActivation> FindOpenActivations(jvmtiEnv* env, JNIEnv* jni, ClassRegistry& registry,
                                                ThreadRegistry& threads,
                                                const absl::flat_hash_set<uint32_t>& classes);

// Returns the methods ("pkg.Class.method") of `classes` in which running threads are in a loop,
// each once, sorted by name. Threads that wait or are in native code are left out: the little that
// they run does not matter. Takes one safepoint for the stacks. Any Java thread, in a LocalFrame.
//
// Such a loop becomes slow when the code of its class is swapped. HotSpot never compiles a method's
// old version (Dependencies::check_evol_method refuses redefined methods), so an activation of it
// stays interpreted until it returns, perhaps never. New calls are compiled again.
std::vector<std::string> FindRunningLoops(jvmtiEnv* env, JNIEnv* jni,
                                          std::span<const jclass> classes);

}  // namespace jtrace::jvm
