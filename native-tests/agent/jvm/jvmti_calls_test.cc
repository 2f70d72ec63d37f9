#include "agent/jvm/jvmti_calls.h"

#include <gtest/gtest.h>

namespace jtrace::jvm {
namespace {

// A JNI environment whose local frames fail with a pending exception, as without memory.
struct FullJni : JNIEnv {
  FullJni() {
    functions = &table;
    table.ExceptionCheck = [](JNIEnv* env) -> jboolean { return Self(env)->is_pending; };
    table.ExceptionClear = [](JNIEnv* env) { Self(env)->is_pending = false; };
    table.PushLocalFrame = [](JNIEnv* env, jint) -> jint {
      Self(env)->is_pending = true;
      return JNI_ENOMEM;
    };
    table.PopLocalFrame = [](JNIEnv* env, jobject) -> jobject {
      Self(env)->has_popped = true;
      return nullptr;
    };
  }
  static FullJni* Self(JNIEnv* env) { return static_cast<FullJni*>(env); }

  JNINativeInterface_ table{};
  bool is_pending = false;
  bool has_popped = false;
};

TEST(LocalFrameTest, LeavesNoErrorOfItsOwn) {
  FullJni jni;
  {
    const LocalFrame frame(&jni);
    EXPECT_FALSE(jni.is_pending);
  }
  EXPECT_FALSE(jni.has_popped);
}

TEST(LocalFrameTest, KeepsTheExceptionOfTheProgram) {
  FullJni jni;
  jni.is_pending = true;
  const LocalFrame frame(&jni);
  EXPECT_TRUE(jni.is_pending);
}

}  // namespace
}  // namespace jtrace::jvm
