#include "agent/jvmti/retransformer.h"

#include <algorithm>

#include "absl/cleanup/cleanup.h"
#include "absl/time/clock.h"

namespace jtrace::jvmti {
namespace {

constexpr size_t kFirstBatch = 256;
constexpr size_t kLargestBatch = 4096;
constexpr absl::Duration kBatchTarget = absl::Milliseconds(400);

thread_local bool t_retransforming = false;

// One class that the JVM refuses makes the whole call fail without effect. Splitting in halves
// finds it.
void RetransformOrSplit(jvmtiEnv* env, std::span<const jclass> classes, RetransformResult& result) {
  if (classes.empty()) return;
  const jvmtiError error =
      env->RetransformClasses(static_cast<jint>(classes.size()), classes.data());
  if (error == JVMTI_ERROR_NONE) {
    result.done += classes.size();
  } else if (classes.size() == 1) {
    result.refused.push_back({classes[0], error});
  } else {
    const size_t half = classes.size() / 2;
    RetransformOrSplit(env, classes.first(half), result);
    RetransformOrSplit(env, classes.subspan(half), result);
  }
}

}  // namespace

bool IsRetransforming() { return t_retransforming; }

size_t NextBatchSize(size_t size, absl::Duration time) {
  if (time < kBatchTarget / 2) return std::min(size * 2, kLargestBatch);
  if (time > kBatchTarget * 2) return std::max<size_t>(size / 2, 1);
  return size;
}

RetransformResult RetransformBatch(jvmtiEnv* env, std::span<const jclass> classes) {
  t_retransforming = true;
  const auto done = absl::MakeCleanup([] { t_retransforming = false; });
  RetransformResult result;
  RetransformOrSplit(env, classes, result);
  return result;
}

RetransformResult Retransform(jvmtiEnv* env, std::span<const jclass> classes) {
  RetransformResult result;
  size_t size = kFirstBatch;
  for (size_t next = 0; next < classes.size();) {
    const auto batch = classes.subspan(next, std::min(size, classes.size() - next));
    const absl::Time begin = absl::Now();
    RetransformResult part = RetransformBatch(env, batch);
    result.done += part.done;
    result.refused.insert(result.refused.end(), part.refused.begin(), part.refused.end());
    next += batch.size();
    size = NextBatchSize(size, absl::Now() - begin);
  }
  return result;
}

}  // namespace jtrace::jvmti
