// Native methods of Hooked.java, and the hooked functions that they call.
#include <jni.h>

#include <atomic>
#include <cstdint>

namespace {

std::atomic<const uint8_t*> add_returns_to{nullptr};
// Where calls of natives_direct and natives_indirect return to.
std::atomic<const uint8_t*> tails_return_to[2] = {};

bool IsInt3(const std::atomic<const uint8_t*>& address) {
  const volatile uint8_t* const code = address.load(std::memory_order_relaxed);
  return code != nullptr && *code == 0xcc;
}

}  // namespace

extern "C" {

__attribute__((noinline, visibility("default"))) jlong natives_add(jlong x) {
  add_returns_to.store(static_cast<const uint8_t*>(__builtin_return_address(0)),
                       std::memory_order_relaxed);
  return 3 * x + 1;
}
__attribute__((noinline, visibility("default"))) jlong natives_square(jlong x) { return x * x; }

// Two functions that end in a jump to a third one. The second one is called, and jumps, by a
// pointer.
__attribute__((noinline, visibility("default"))) jlong natives_target(jlong x, jlong which) {
  tails_return_to[which].store(static_cast<const uint8_t*>(__builtin_return_address(0)),
                               std::memory_order_relaxed);
  return 5 * x;
}
__attribute__((noinline, visibility("default"))) jlong natives_direct(jlong x) {
  return natives_target(x + 1, 0);
}
jlong (*volatile target_pointer)(jlong, jlong) = &natives_target;
__attribute__((noinline, visibility("default"))) jlong natives_indirect(jlong x) {
  return target_pointer(x + 2, 1);
}

jlong (*volatile indirect_pointer)(jlong) = &natives_indirect;

JNIEXPORT jlong JNICALL Java_programs_HookedTails_direct(JNIEnv*, jclass, jlong x) {
  volatile jlong result = natives_direct(x);  // no tail call
  return result;
}

JNIEXPORT jlong JNICALL Java_programs_HookedTails_indirect(JNIEnv*, jclass, jlong x) {
  volatile jlong result = indirect_pointer(x);
  return result;
}

JNIEXPORT jboolean JNICALL Java_programs_HookedTails_areReturnsAwaited(JNIEnv*, jclass) {
  return IsInt3(tails_return_to[0]) && IsInt3(tails_return_to[1]) ? JNI_TRUE : JNI_FALSE;
}

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
  return IsInt3(add_returns_to) ? JNI_TRUE : JNI_FALSE;
}

}  // extern "C"
