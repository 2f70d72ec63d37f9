// LD_PRELOAD: a JVM that is slow at one point of its start. It makes its socket for attach requests
// when it is asked to, and deletes that of an earlier process of its pid; its first look for one
// lasts here until there is one, which it then takes for the earlier process's.
#include <dlfcn.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include <atomic>

namespace {

constexpr int kMostLooks = 10'000;  // ten seconds

void HoldFirstLook(const char* path) {
  static std::atomic<bool> was_held{false};
  if (strstr(path, "/.java_pid") == nullptr || was_held.exchange(true)) return;
  struct stat file;
  for (int look = 0; look < kMostLooks && lstat(path, &file) != 0; ++look) {
    const timespec pause{0, 1'000'000};
    nanosleep(&pause, nullptr);
  }
}

template <typename Function>
Function* Original(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

// JDKs that were built with a C library older than 2.33 call the second one.
int stat64(const char* path, struct stat64* result) {
  HoldFirstLook(path);
  return Original<decltype(stat64)>("stat64")(path, result);
}

int __xstat64(int version, const char* path, struct stat64* result) {
  HoldFirstLook(path);
  return Original<int(int, const char*, struct stat64*)>("__xstat64")(version, path, result);
}

}  // extern "C"
#pragma GCC visibility pop
