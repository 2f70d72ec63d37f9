// Passes loaded classes through the class-file hooks again, to add or remove probes.
//
// The JVM stops all threads to swap the code of the classes in one call, and discards compiled code
// that depends on any of them. So batches are large: what is compiled between two of them is often
// lost again with the second. Any Java thread; may take seconds.
// session/class_batches does the same at a program's pace.
#pragma once

#include <jvmti.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/time/time.h"

namespace jtrace::jvmti {

// A class that the JVM did not retransform, and JVMTI's error.
struct RefusedClass {
  jclass klass = nullptr;
  jvmtiError error = JVMTI_ERROR_NONE;
};

// The classes that were retransformed and those that were not.
struct RetransformResult {
  size_t done = 0;
  std::vector<RefusedClass> refused;  // the JVM did not change these
};

// All of them, one batch right after the other.
RetransformResult Retransform(jvmtiEnv* env, std::span<const jclass> classes);
// In one call, unless the JVM refuses some of them.
RetransformResult RetransformBatch(jvmtiEnv* env, std::span<const jclass> classes);

// Whether the calling thread is in one of these: then jtrace itself caused the class-file hook.
bool IsRetransforming();

// The number of classes of the next batch, after one of `size` took `time`.
size_t NextBatchSize(size_t size, absl::Duration time);

}  // namespace jtrace::jvmti
