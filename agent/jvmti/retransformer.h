// Has loaded classes pass through the class-file hooks again: to get probes, or to lose them.
//
// The JVM stops all threads to swap the code of what one call names, so classes go in batches whose
// size follows the time the last one took: no pause is much longer than kBatchTarget, and not every
// class costs one of its own. Any Java thread; may take seconds.
#pragma once

#include <jvmti.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/time/time.h"

namespace jtrace::jvmti {

struct RefusedClass {
  jclass klass = nullptr;
  jvmtiError error = JVMTI_ERROR_NONE;
};

struct RetransformResult {
  size_t done = 0;
  std::vector<RefusedClass> refused;  // the JVM did not let these change
  absl::Duration longest_batch = absl::ZeroDuration();
};

// `progress` is called after each batch with how many are through; it returns false to stop there.
RetransformResult Retransform(jvmtiEnv* env, std::span<const jclass> classes,
                              absl::FunctionRef<bool(size_t done, size_t all)> progress);

// Whether the calling thread is in Retransform: then class-file hooks see jtrace's own doing.
bool IsRetransforming();

// The number of classes of the next batch, after one of `size` took `time`.
size_t NextBatchSize(size_t size, absl::Duration time);

}  // namespace jtrace::jvmti
