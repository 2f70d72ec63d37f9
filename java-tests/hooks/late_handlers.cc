// Native methods of LateHandlers.java: a program's own handler of SIGTRAP, installed in several
// ways, and its own traps.
#include <jni.h>
#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstring>

namespace {

std::atomic<int64_t> traps{0};
siginfo_t last;
uintptr_t last_pc;

void Note(int, siginfo_t* info, void* context) {
  last = *info;
  last_pc = static_cast<uintptr_t>(static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
  ++traps;
}
void NoteShortly(int) { ++traps; }

// The kernel's layout (x86-64).
struct KernelAction {
  void (*handler)(int, siginfo_t*, void*);
  uint64_t flags;
  void (*restorer)();
  uint64_t mask;
};

KernelAction Ask(int signal) {
  KernelAction action = {};
  syscall(SYS_rt_sigaction, signal, nullptr, &action, sizeof action.mask);
  return action;
}

bool IsOwn(const void* handler) {
  return handler == nullptr || handler == reinterpret_cast<void*>(&Note) ||
         handler == reinterpret_cast<void*>(&NoteShortly);
}

}  // namespace

extern "C" {

// Returns whether the handler before was the program's own or none.
JNIEXPORT jboolean JNICALL Java_programs_LateHandlers_bySigaction(JNIEnv*, jclass) {
  struct sigaction action {};
  action.sa_sigaction = &Note;
  action.sa_flags = SA_SIGINFO;
  struct sigaction old {};
  sigaction(SIGTRAP, &action, &old);
  return IsOwn(reinterpret_cast<void*>(old.sa_sigaction)) ? JNI_TRUE : JNI_FALSE;
}

JNIEXPORT jboolean JNICALL Java_programs_LateHandlers_bySignal(JNIEnv*, jclass) {
  return IsOwn(reinterpret_cast<void*>(signal(SIGTRAP, &NoteShortly))) ? JNI_TRUE : JNI_FALSE;
}

JNIEXPORT void JNICALL Java_programs_LateHandlers_bySystemCall(JNIEnv*, jclass) {
  KernelAction action = Ask(SIGSEGV);  // the JVM's handler has all fields that the kernel needs
  action.handler = &Note;
  syscall(SYS_rt_sigaction, SIGTRAP, &action, nullptr, sizeof action.mask);
}

// By the kernel's own record.
JNIEXPORT jboolean JNICALL Java_programs_LateHandlers_isInFront(JNIEnv*, jclass) {
  return Ask(SIGTRAP).handler == &Note ? JNI_TRUE : JNI_FALSE;
}

JNIEXPORT jlong JNICALL Java_programs_LateHandlers_traps(JNIEnv*, jclass) { return traps; }

// Traps of the program's own. Returns how many of them its handler saw unchanged; for a handler
// that gets only the signal, how many it saw.
JNIEXPORT jlong JNICALL Java_programs_LateHandlers_ownTraps(JNIEnv*, jclass, jboolean is_reported) {
  const int64_t before = traps;
  jlong right = 0;
  raise(SIGTRAP);
  right += last.si_code == SI_TKILL && last.si_pid == getpid();
  sigval value = {};
  value.sival_int = 47;
  sigqueue(getpid(), SIGTRAP, value);
  // Any thread may get it.
  while (traps < before + 2) usleep(1000);
  right += last.si_code == SI_QUEUE && last.si_value.sival_int == 47;
  uintptr_t after;
  asm volatile("int3\n\t1: lea 1b(%%rip), %0" : "=r"(after) : : "memory");
  right += last.si_code == SI_KERNEL && last_pc == after;
  return is_reported ? right : traps - before;
}

}  // extern "C"
