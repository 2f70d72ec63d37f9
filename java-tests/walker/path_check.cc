#include "java-tests/walker/path_check.h"

#include <jni.h>
#include <stdlib.h>

#include <atomic>
#include <vector>

#include "java-tests/walker/stepper.h"

namespace jtrace::walker_test {
namespace {

std::atomic<const uint64_t*> published{nullptr};
std::atomic<uint64_t> publisher{0};  // java tid

}  // namespace

signal_safe::Position ReadPublishedPath(uint64_t java_tid) {
  const uint64_t* const path = published.load(std::memory_order_acquire);
  if (path == nullptr || publisher.load(std::memory_order_relaxed) != java_tid) return {};
  return {java_tid, *path, *path != 0};
}

}  // namespace jtrace::walker_test

using jtrace::walker_test::Paths;

namespace {

jclass path_check_class;
jmethodID back_method;
jmethodID compare_method;

struct Callback {
  JNIEnv* env;
  jlong path;
  jint depth;
};

// Called by qsort: the first comparison continues the path, the others just compare.
int Compare(const void* left, const void* right, void* data) {
  auto* const callback = static_cast<Callback*>(data);
  JNIEnv* const env = callback->env;
  if (callback->depth >= 0) {
    const jint depth = callback->depth;
    callback->depth = -1;
    env->CallStaticVoidMethod(path_check_class, back_method, callback->path, depth);
  }
  return env->CallStaticIntMethod(path_check_class, compare_method, *static_cast<const jint*>(left),
                                  *static_cast<const jint*>(right));
}

}  // namespace

extern "C" JNIEXPORT void JNICALL Java_PathCheck_register(JNIEnv* env, jclass type, jobject buffer,
                                                          jlong java_tid) {
  path_check_class = static_cast<jclass>(env->NewGlobalRef(type));
  back_method = env->GetStaticMethodID(type, "fromNative", "(JI)V");
  compare_method = env->GetStaticMethodID(type, "compare", "(II)I");
  const auto id = [&](const char* name, const char* signature) {
    return reinterpret_cast<uint64_t>(env->GetStaticMethodID(type, name, signature));
  };
  const uint64_t methods[] = {id("a", "(JI)V"), id("b", "(JI)V"), id("c", "(JI)V"),
                              id("d", "(JI)V")};
  jtrace::walker_test::publisher.store(static_cast<uint64_t>(java_tid));
  if (jtrace::walker_test::PathChecker* const paths = Paths()) {
    const std::vector<uint64_t> leaves = {id("publish", "(J)V"), id("work", "(I)V"),
                                          id("compare", "(II)I")};
    paths->Register(methods, leaves);
    jtrace::walker_test::SteppedPaths()->Register(methods, leaves);
    jtrace::walker_test::published.store(
        static_cast<const uint64_t*>(env->GetDirectBufferAddress(buffer)),
        std::memory_order_release);
  }
}

// Continues through qsort and its callback.
extern "C" JNIEXPORT void JNICALL Java_PathCheck_throughSort(JNIEnv* env, jclass, jlong path,
                                                             jint depth) {
  jint values[] = {5, 3, 9, 1, 7, 2};
  Callback callback{env, path, depth};
  const uint64_t* const running = jtrace::walker_test::published.load();
  if (running != nullptr && *running != 0) jtrace::walker_test::StepOn();
  qsort_r(values, sizeof values / sizeof *values, sizeof *values, Compare, &callback);
}
