#include "java-tests/walker/path_check.h"

#include <stdlib.h>

#include <atomic>
#include <cstdio>

namespace jtrace::walker_test {
namespace {

std::atomic<const uint64_t*> published{nullptr};
std::atomic<uint64_t> publisher{0};  // java tid

constexpr int kBitsPerCall = 2;

bool OneCallMore(uint64_t longer, uint64_t shorter) { return longer >> kBitsPerCall == shorter; }

bool IsPrefix(uint64_t prefix, uint64_t path) {
  while (path > prefix) path >>= kBitsPerCall;
  return path == prefix;
}

}  // namespace

hot::Position ReadPublishedPath(uint64_t java_tid) {
  const uint64_t* const path = published.load(std::memory_order_acquire);
  if (path == nullptr || publisher.load(std::memory_order_relaxed) != java_tid) return {};
  return {java_tid, *path, *path != 0};
}

void PathChecker::Register(const uint64_t* buffer, const jmethodID methods[4]) {
  for (int i = 0; i < 4; ++i) methods_[i] = reinterpret_cast<uint64_t>(methods[i]);
  registered_ = true;
  published.store(buffer, std::memory_order_release);
}

uint64_t PathChecker::Spell(const hot::SampleView& sample, uint32_t from) const {
  uint64_t path = 1;
  for (uint32_t i = sample.header.frame_count; i-- > from;) {
    if (!hot::IsJava(sample.frames[i])) continue;
    for (uint64_t m = 0; m < 4; ++m) {
      if (sample.frames[i].value == methods_[m]) path = path << kBitsPerCall | m;
    }
  }
  return path;
}

std::string PathChecker::Check(const hot::SampleView& sample) {
  if (!sample.header.position_known || sample.header.end == hot::ChainEnd::kFailed) return "";
  // The interrupted frame, below what the kernel does for it: what is inlined, and what that is
  // inlined into.
  uint32_t callers = 0;
  const auto skip = [&](hot::FrameKind kind) {
    while (callers < sample.header.frame_count && sample.frames[callers].kind == kind) ++callers;
  };
  skip(hot::FrameKind::kKernel);
  skip(hot::FrameKind::kInlined);
  const uint64_t expected = sample.header.node;
  const uint64_t path = Spell(sample, 0);
  const uint64_t callers_path = Spell(sample, callers + 1);
  ++checked_;
  if (path == expected) ++equal_;
  if (path != expected && !OneCallMore(path, expected) && !OneCallMore(expected, path)) ++inexact_;
  // The last one may just be calling publish.
  if (IsPrefix(callers_path >> kBitsPerCall, expected)) return "";
  ++mismatches_;
  char text[100];
  snprintf(text, sizeof text, "path %lx, callers %lx, expected %lx", path, callers_path, expected);
  return text;
}

bool PathChecker::Ok(double max_inexact, double max_unequal) const {
  if (!registered_) return true;
  const auto within = [this](uint64_t count, double percent) {
    return 100.0 * static_cast<double>(count) <= percent * static_cast<double>(checked_);
  };
  return mismatches_ == 0 && checked_ > 0 && within(inexact_, max_inexact) &&
         within(checked_ - equal_, max_unequal);
}

std::string PathChecker::Summary() const {
  return "paths checked " + std::to_string(checked_) + " equal " + std::to_string(equal_) +
         " inexact leaf " + std::to_string(inexact_) + " mismatches " + std::to_string(mismatches_);
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

// What qsort calls: the first comparison goes on with the path, the others just compare.
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
  jmethodID methods[4];
  const char* const names[] = {"a", "b", "c", "d"};
  for (int i = 0; i < 4; ++i) methods[i] = env->GetStaticMethodID(type, names[i], "(JI)V");
  jtrace::walker_test::publisher.store(static_cast<uint64_t>(java_tid));
  if (jtrace::walker_test::PathChecker* const paths = Paths()) {
    paths->Register(static_cast<const uint64_t*>(env->GetDirectBufferAddress(buffer)), methods);
  }
}

// Goes on through qsort and its callback.
extern "C" JNIEXPORT void JNICALL Java_PathCheck_throughSort(JNIEnv* env, jclass, jlong path,
                                                             jint depth) {
  jint values[] = {5, 3, 9, 1, 7, 2};
  Callback callback{env, path, depth};
  qsort_r(values, sizeof values / sizeof *values, sizeof *values, Compare, &callback);
}
