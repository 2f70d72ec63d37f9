// Native methods of Hooked.java, and the functions behind them that are hooked.
#include <jni.h>

extern "C" {

__attribute__((noinline, visibility("default"))) jlong natives_add(jlong x) { return 3 * x + 1; }
__attribute__((noinline, visibility("default"))) jlong natives_square(jlong x) { return x * x; }

JNIEXPORT jlong JNICALL Java_programs_Hooked_add(JNIEnv*, jclass, jlong x) {
  volatile jlong result = natives_add(x);  // no tail call
  return result;
}

JNIEXPORT jlong JNICALL Java_programs_Hooked_square(JNIEnv*, jclass, jlong x) {
  volatile jlong result = natives_square(x);
  return result;
}

}  // extern "C"
