#include "agent/native_hooks/refusals.h"

#include <dlfcn.h>

#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "agent/native_hooks/patch_site_table.h"

namespace jtrace::native_hooks {
namespace {

constexpr char kLibc[] = "libc.so.6";

struct Refusal {
  absl::string_view object;  // a prefix of its name
  absl::string_view why;
  std::vector<const char*> symbols;
};

constexpr absl::string_view kOwnPath = "jtrace's own signal handlers call it";
constexpr absl::string_view kThreadEnd =
    "glibc calls it where all signals are blocked, when threads start or end";
constexpr absl::string_view kFree =
    "its object has the program's free, which may call it, and which glibc calls where all signals "
    "are blocked, when threads end";
constexpr absl::string_view kSpawn =
    "glibc calls it where all signals are blocked, between posix_spawn and exec";

// kOwnPath has libc's functions of signal_safe/allowed_symbols.txt; the others follow glibc 2.36.
// NOLINTNEXTLINE(readability-function-size): a table.
const std::vector<Refusal>& Refusals() {
  static const auto* const refusals = new std::vector<Refusal>{
      {kLibc,
       kOwnPath,
       {"memchr", "memcpy", "memmove", "memset", "strcmp", "strlen", "strncmp", "__errno_location",
        "clock_gettime", "gettid", "ioctl", "raise", "sigaction", "syscall", "__stack_chk_fail",
        "_dl_find_object", "pthread_kill", "__sigaction"}},
      {kLibc,
       kThreadEnd,
       {"free",
        "cfree",
        "munmap",
        "madvise",
        "mprotect",
        "clone",
        "__clone",
        "clone3",
        "vfork",
        "__vfork",
        "pthread_sigmask",
        "sigprocmask",
        "__ctype_init",
        "sched_setscheduler",
        "sched_setaffinity",
        "pthread_sigqueue",
        "_setjmp",
        "__sigsetjmp",
        "setjmp",
        "getpagesize",
        "__getpagesize",
        "pthread_setspecific",
        "__pthread_setspecific",
        "__libc_sigaction",
        "__lll_lock_wait_private",
        "__lll_lock_wake_private",
        "__nptl_create_event",
        "__nptl_death_event"}},
      {kLibc,
       kSpawn,
       {"execve",
        "fexecve",
        "execveat",
        "execvpe",
        "_exit",
        "_Exit",
        "dup2",
        "dup3",
        "fcntl",
        "fcntl64",
        "chdir",
        "fchdir",
        "setsid",
        "setpgid",
        "seteuid",
        "setegid",
        "tcsetpgrp",
        "sched_setparam",
        "getrlimit",
        "getrlimit64",
        "closefrom",
        "close_range",
        "strchr",
        "strchrnul",
        "getenv",
        "mempcpy",
        "strnlen",
        "waitpid",
        "__waitpid",
        "wait4",
        "__wait4",
        "__close_nocancel",
        "__open_nocancel",
        "__open64_nocancel",
        "memrchr",
        "__sigprocmask",
        "setresuid",
        "setresgid"}},
      // HotSpot recognizes intended faults by the exact instruction.
      {"libjvm.so",
       "the JVM expects faults at exactly its instructions",
       {"SafeFetch32_impl", "SafeFetchN_impl", "_SafeFetch32_fault", "_SafeFetchN_fault"}},
  };
  return *refusals;
}

// The reasons by address of the refused functions of libc, and of functions of other objects that
// replace them (LD_PRELOAD). An address also finds them under other names than the list's.
const absl::flat_hash_map<uintptr_t, absl::string_view>& RefusedAddresses() {
  static const auto* const refused = [] {
    auto* const addresses = new absl::flat_hash_map<uintptr_t, absl::string_view>;
    void* const libc = dlopen(kLibc, RTLD_LAZY | RTLD_NOLOAD);
    for (const Refusal& refusal : Refusals()) {
      if (refusal.object != kLibc) continue;
      for (const char* symbol : refusal.symbols) {
        for (void* const scope : {RTLD_DEFAULT, libc}) {
          const auto address = reinterpret_cast<uintptr_t>(dlsym(scope, symbol));
          if (address != 0) addresses->emplace(address, refusal.why);
        }
      }
    }
    return addresses;
  }();
  return *refused;
}

// Whether a `free` that replaces libc's may call the function, and so where signals are blocked:
// any function of the object with that `free`, except those that programs allocate with.
bool IsOfFree(const LoadedDso& object, const std::string& symbol) {
  static const auto* const allocate = new absl::flat_hash_set<std::string>{"malloc",
                                                                           "calloc",
                                                                           "realloc",
                                                                           "reallocarray",
                                                                           "posix_memalign",
                                                                           "aligned_alloc",
                                                                           "memalign",
                                                                           "valloc",
                                                                           "pvalloc",
                                                                           "malloc_usable_size",
                                                                           "_Znwm",
                                                                           "_Znam",
                                                                           "_ZnwmSt11align_val_t",
                                                                           "_ZnamSt11align_val_t",
                                                                           "_ZnwmRKSt9nothrow_t",
                                                                           "_ZnamRKSt9nothrow_t"};
  return !absl::StartsWith(object.name, kLibc) &&
         object.HasCodeAt(reinterpret_cast<uintptr_t>(dlsym(RTLD_DEFAULT, "free"))) &&
         !allocate->contains(symbol);
}

bool IsJtrace(const LoadedDso& object) {
  return object.HasCodeAt(reinterpret_cast<uintptr_t>(&MayHook));
}

}  // namespace

bool IsErrorReport(const Function& function) {
  return absl::StartsWith(function.symbol, "_ZN7VMError14report_and_die");
}

absl::Status MayHook(const LoadedDso& object, const Function& function) {
  const auto refuse = [&](absl::string_view why) {
    return absl::FailedPreconditionError(
        absl::StrCat("no hook in ", object.name, "!", function.name, ": ", why));
  };
  if (IsJtrace(object)) return refuse("it is jtrace itself");
  if (IsErrorReport(function)) {
    return refuse("the JVM's report of an error begins there, which takes all hooks out");
  }
  if (absl::StartsWith(object.name, "ld-linux") || absl::StartsWith(object.name, "ld.so")) {
    return refuse("jtrace's handlers need the dynamic loader");
  }
  for (const Refusal& refusal : Refusals()) {
    if (!absl::StartsWith(object.name, refusal.object)) continue;
    for (const char* symbol : refusal.symbols) {
      if (function.symbol == symbol) return refuse(refusal.why);
    }
  }
  const auto refused = RefusedAddresses().find(function.address);
  if (refused != RefusedAddresses().end()) return refuse(refused->second);
  if (IsOfFree(object, function.symbol)) return refuse(kFree);
  return absl::OkStatus();
}

bool IsReturnFromSignal(uintptr_t address) {
  // mov $__NR_rt_sigreturn, %rax; syscall
  const std::vector<uint8_t> kReturn = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
  return ReadCode(address, kReturn.size()) == kReturn;
}

absl::Status MayAwaitReturnAt(const LoadedDso& object, uintptr_t address) {
  const auto refuse = [](absl::string_view why) { return absl::FailedPreconditionError(why); };
  if (absl::StartsWith(object.name, kLibc)) {
    return refuse("inside of libc's functions signals may be blocked");
  }
  if (IsReturnFromSignal(address)) return refuse("handlers of signals return there, ours too");
  Function nameless;
  nameless.address = address;
  return MayHook(object, nameless);
}

}  // namespace jtrace::native_hooks
