// The stacks of threads that run Java code. Any Java thread, in a LocalFrame: each stack has a
// local reference to its thread.
#pragma once

#include <jvmti.h>

#include <span>

#include "agent/jvmti/env.h"

namespace jtrace::jvmti {

// Calls visit(std::span<const jvmtiFrameInfo>) with the topmost frames, at most 256, of each; not
// of virtual threads, nor of threads in native code, which may wait there. Stops all threads for a
// moment. No call if the JVM does not list them.
template <typename Visit>
void ForEachRunningStack(jvmtiEnv* env, Visit visit) {
  constexpr jint kMostFrames = 256;
  jint count = 0;
  Allocated<jvmtiStackInfo> stacks(env);
  if (env->GetAllStackTraces(kMostFrames, stacks.out(), &count) != JVMTI_ERROR_NONE) return;
  for (const jvmtiStackInfo& stack : std::span(stacks.get(), static_cast<size_t>(count))) {
    const bool runs_java = (stack.state & JVMTI_THREAD_STATE_RUNNABLE) != 0 &&
                           (stack.state & JVMTI_THREAD_STATE_IN_NATIVE) == 0;
    if (runs_java) visit(std::span(stack.frame_buffer, static_cast<size_t>(stack.frame_count)));
  }
}

}  // namespace jtrace::jvmti
