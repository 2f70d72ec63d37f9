#include "agent/jvm/loaded_classes.h"

#include <algorithm>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/time/clock.h"
#include "agent/base/class_names.h"
#include "agent/jvm/jvmti_calls.h"

namespace jtrace::jvm {
namespace {

constexpr jint kInterface = 0x0200;  // JVMS 4.1
constexpr jint kAbstract = 0x0400;

bool IsAbstract(jvmtiEnv* env, jclass klass) {
  jint modifiers = 0;
  return env->GetClassModifiers(klass, &modifiers) == JVMTI_ERROR_NONE &&
         (modifiers & (kInterface | kAbstract)) != 0;
}

constexpr size_t kFirstBatch = 256;
constexpr size_t kMaxBatchClasses = 4096;
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

absl::flat_hash_set<std::string> ImplementorsOf(jvmtiEnv* env, JNIEnv* jni,
                                                absl::string_view class_name) {
  absl::flat_hash_set<std::string> names;
  LocalFrame frame(jni);
  jint count = 0;
  Allocated<jclass> classes(env);
  if (env->GetLoadedClasses(&count, classes.out()) != JVMTI_ERROR_NONE) return names;
  std::vector<jclass> types;
  for (jint i = 0; i < count; ++i) {
    if (ClassName(env, classes[i]) == class_name && IsAbstract(env, classes[i])) {
      types.push_back(classes[i]);
    }
  }
  for (const jclass type : types) {
    for (jint i = 0; i < count; ++i) {
      if (jni->IsAssignableFrom(classes[i], type)) names.insert(ClassName(env, classes[i]));
    }
  }
  return names;
}

bool IsRetransforming() { return t_retransforming; }

size_t NextBatchSize(size_t size, absl::Duration time) {
  if (time < kBatchTarget / 2) return std::min(size * 2, kMaxBatchClasses);
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

}  // namespace jtrace::jvm
