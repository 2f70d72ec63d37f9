// Native methods of AlternateStacks.java: an alternate stack of the calling thread, and how much of
// it signal handlers have used.
#include <jni.h>
#include <signal.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace {

constexpr unsigned char kPaint = 0xa5;
constexpr size_t kGuard = 65'536;

thread_local unsigned char* t_low = nullptr;
thread_local size_t t_size = 0;
thread_local uintptr_t t_begin = 0;

void NoteBegin(int) { t_begin = reinterpret_cast<uintptr_t>(__builtin_frame_address(0)); }

}  // namespace

extern "C" {

// Above memory that nobody may touch. False: it failed.
JNIEXPORT jboolean JNICALL Java_programs_AlternateStacks_use(JNIEnv*, jclass, jlong bytes) {
  t_size = static_cast<size_t>(bytes);
  void* const memory =
      mmap(nullptr, kGuard + t_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED || mprotect(memory, kGuard, PROT_NONE) != 0) return JNI_FALSE;
  t_low = static_cast<unsigned char*>(memory) + kGuard;
  std::memset(t_low, kPaint, t_size);
  const stack_t stack = {t_low, 0, t_size};
  struct sigaction action {};
  action.sa_handler = NoteBegin;
  action.sa_flags = SA_ONSTACK;
  if (sigaltstack(&stack, nullptr) != 0 || sigaction(SIGURG, &action, nullptr) != 0 ||
      raise(SIGURG) != 0) {
    return JNI_FALSE;
  }
  return JNI_TRUE;
}

// Bytes below the first frame of a handler that were written to.
JNIEXPORT jlong JNICALL Java_programs_AlternateStacks_used(JNIEnv*, jclass) {
  const unsigned char* const deepest =
      std::find_if(t_low, t_low + t_size, [](unsigned char byte) { return byte != kPaint; });
  return static_cast<jlong>(t_begin) - static_cast<jlong>(reinterpret_cast<uintptr_t>(deepest));
}

}  // extern "C"
