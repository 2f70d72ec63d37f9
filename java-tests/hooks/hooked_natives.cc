// Native methods of Hooked.java, and the hooked functions that they call.
#include <jni.h>

#include <atomic>
#include <cstdint>

namespace {

std::atomic<const uint8_t*> add_returns_to{nullptr};

}  // namespace

extern "C" {

__attribute__((noinline, visibility("default"))) jlong natives_add(jlong x) {
  add_returns_to.store(static_cast<const uint8_t*>(__builtin_return_address(0)),
                       std::memory_order_relaxed);
  return 3 * x + 1;
}
__attribute__((noinline, visibility("default"))) jlong natives_square(jlong x) { return x * x; }

JNIEXPORT jlong JNICALL Java_programs_Hooked_add(JNIEnv*, jclass, jlong x) {
  volatile jlong result = natives_add(x);  // no tail call
  return result;
}

JNIEXPORT jlong JNICALL Java_programs_Hooked_square(JNIEnv*, jclass, jlong x) {
  volatile jlong result = natives_square(x);
  return result;
}

// Whether there is an int3 where natives_add returns to; false before its first call.
JNIEXPORT jboolean JNICALL Java_programs_Hooked_isReturnAwaited(JNIEnv*, jclass) {
  const volatile uint8_t* const code = add_returns_to.load(std::memory_order_relaxed);
  return code != nullptr && *code == 0xcc ? JNI_TRUE : JNI_FALSE;
}

}  // extern "C"
