// Threads that a JVM short of memory or stack cannot describe.
#include "agent/metrics/jvm_metrics.h"

#include <gtest/gtest.h>

#include <memory>

namespace jtrace::metrics {
namespace {

bool is_short;
bool is_pending;

jint JNICALL NoEnv(JavaVM*, void**, jint) { return JNI_ERR; }

jclass JNICALL Find(JNIEnv*, const char*) {
  is_pending = is_short;
  return is_short ? nullptr : reinterpret_cast<jclass>(&is_short);
}

TEST(JvmMetricsTest, AnUnknownThreadIsNotCountedAndNothingIsPending) {
  JNIInvokeInterface_ invoke{};
  invoke.GetEnv = &NoEnv;
  JavaVM vm{};
  vm.functions = &invoke;
  JNINativeInterface_ functions{};
  functions.FindClass = &Find;
  functions.GetFieldID = [](JNIEnv*, jclass type, const char*, const char*) {
    EXPECT_NE(type, nullptr);
    return reinterpret_cast<jfieldID>(&is_short);
  };
  functions.GetLongField = [](JNIEnv*, jobject, jfieldID) -> jlong { return 77; };
  functions.DeleteLocalRef = [](JNIEnv*, jobject) {};
  functions.ExceptionClear = [](JNIEnv*) { is_pending = false; };
  JNIEnv jni{};
  jni.functions = &functions;
  jvm::ThreadTable threads;
  const std::unique_ptr<JvmMetrics> metrics(JvmMetrics::Create(&vm, threads));
  is_short = true;
  EXPECT_FALSE(metrics->RegisterThread(&jni, nullptr));
  EXPECT_FALSE(is_pending);
  is_short = false;
  EXPECT_TRUE(metrics->RegisterThread(&jni, nullptr));
}

}  // namespace
}  // namespace jtrace::metrics
